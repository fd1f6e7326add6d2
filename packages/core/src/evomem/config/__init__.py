"""Settings from a YAML file; read by composition roots only, never below them."""

from evomem.config.settings import CONFIG_VARIABLE, Settings, load_settings

__all__ = ["CONFIG_VARIABLE", "Settings", "load_settings"]
