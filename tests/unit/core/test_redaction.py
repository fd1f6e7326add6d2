"""All secrets here are made up, and put together at run time so that no scanner takes them for real."""

import base64
import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomem import MissingExtraError
from evomem.redaction.base import Secret, create_detector, merge, redact

DETECTOR = create_detector()
PASSWORD = "Tr0ub4" + "dor-and-3"


def made(prefix, length, alphabet="aB3dE5gH7jK9mN2pQ4sT6vW8yZ"):
    return prefix + (alphabet * (length // len(alphabet) + 1))[:length]


def segment(value):
    return base64.urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


JWT = ".".join([segment({"alg": "HS256"}), segment({"sub": "1234"}), made("", 43)])
AWS_ID = made("AK" + "IA", 16, "ABCDEFGH23456789")
TOKENS = {
    "AWS Access Key": [AWS_ID],
    "Anthropic API Key": [made("sk-" + "ant-api03-", 95)],
    "Artifactory Credentials": [made("AKC" + "p", 69)],
    "Discord Bot Token": [f"{made('M', 23)}.{made('', 6)}.{made('', 27)}"],
    "GitHub Token": [made("gh" + "p_", 36), made("github_" + "pat_", 82)],
    "GitLab Token": [made("gl" + "pat-", 20), made("gl" + "pat-", 27) + ".01.0abcdefg"],
    "Google API Key": [made("AI" + "za", 35)],
    "Hugging Face Token": [made("h" + "f_", 34, "abcdefGHIJ")],
    "JSON Web Token": [JWT],
    "Mailchimp Access Key": [made("", 32, "0123456789abcdef") + "-us" + "12"],
    "NPM tokens": [made("np" + "m_", 36)],
    "OpenAI Token": [
        made("s" + "k-", 20) + "T3Blbk" + made("FJ", 20),
        made("sk-" + "proj-", 74, "ab-_") + "T3Blbk" + made("FJ", 74, "cd-_"),
    ],
    "PyPI Token": [made("py" + "pi-AgEIcHlwaS5vcmc", 80)],
    "SendGrid API Key": [f"{made('S' + 'G.', 22)}.{made('', 43)}"],
    "Slack Token": ["xo" + "xb-123456789012-123456789012-" + made("", 24)],
    "Square OAuth Secret": [made("sq0" + "csp-", 43)],
    "Stripe Access Key": [made("sk_" + "live_", 24), made("sk_" + "live_", 99)],
    "Telegram Bot Token": [made("123456789:" + "AA", 33)],
    "Twilio API Key": [made("S" + "K", 32, "0123456789abcdef")],
}
CASES = [
    pytest.param(rule, token, id=f"{rule} {number}")
    for rule, tokens in TOKENS.items()
    for number, token in enumerate(tokens)
]


@pytest.mark.parametrize(("rule", "token"), CASES)
@pytest.mark.parametrize("frame", ["{}", "Use {} for now.", "鍵は{}です", 'key: "{}"\n', "({}, x)"])
def test_a_token_is_found_whole_wherever_it_stands(rule, token, frame):
    text = frame.format(token)
    start = frame.index("{}")
    assert DETECTOR.find(text) == [Secret(start, start + len(token), rule)]


def test_offsets_count_code_points():
    [secret] = DETECTOR.find(f"🔑 é {AWS_ID}")
    assert secret[:2] == (4, 4 + len(AWS_ID))


def test_several_secrets_come_in_order():
    text = f"{JWT} then {AWS_ID} then {TOKENS['GitHub Token'][0]}"
    found = [secret.rule for secret in DETECTOR.find(text)]
    assert found == ["JSON Web Token", "AWS Access Key", "GitHub Token"]


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        (f"postgres://app:{PASSWORD}@db/ledger", "postgres://app:[]@db/ledger"),
        ("amqp://app:p$ss!w0rd@mq", "amqp://app:[]@mq"),
        (f"redis://:{PASSWORD}@cache:6379/0", "redis://:[]@cache:6379/0"),
    ],
)
def test_of_a_url_only_the_password_is_replaced(text, clean):
    hidden = redact(text, DETECTOR.find(text))
    assert hidden == clean.replace("[]", "[redacted: Basic Auth Credentials]")


@pytest.mark.parametrize(
    "text",
    [
        'password = "{}"',
        "DB_PASSWORD='{}'",
        'We set `api_key: "{}"` in the settings.',
        '{{"client_key": "{}", "port": 5432}}',
        'secret => "{}"',
        "DB_PASSWORD={}",
        "Deploys need this:\nexport API_KEY={}\n",
        "- password: {}\r\n- port: 5432",
        "aws_secret_access_key = {}",
    ],
)
def test_an_assigned_password_is_replaced_and_its_name_stays(text):
    given = text.format(PASSWORD)
    assert redact(given, DETECTOR.find(given)) == text.format("[redacted: Secret Keyword]")


def test_every_password_of_a_line_is_found():
    text = f'password = "{PASSWORD}" and passwd = "{PASSWORD}"'
    assert len(DETECTOR.find(text)) == 2


def key_block(kind="RSA PRIVATE KEY", end=True, line_end="\n"):
    dashes = "-" * 5
    lines = [dashes + f"BEGIN {kind}" + dashes, made("", 64), made("", 64), made("", 30) + "=="]
    if end:
        lines.append(dashes + f"END {kind}" + dashes)
    return line_end.join(lines)


@pytest.mark.parametrize(
    "kind",
    ["PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "OPENSSH PRIVATE KEY", "PGP PRIVATE KEY BLOCK"],
)
@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\\n", "\n> "])
def test_a_private_key_is_covered_from_begin_to_end(kind, line_end):
    block = key_block(kind, line_end=line_end)
    text = f"The key:\n{block}\nKeep it."
    assert redact(text, DETECTOR.find(text)) == "The key:\n[redacted: Private Key]\nKeep it."


def test_of_a_private_key_without_end_the_lines_that_are_there_are_covered():
    text = f"{key_block(end=False)}\nThe rest was cut off.\n{key_block()}\n"
    clean = "[redacted: Private Key]\nThe rest was cut off.\n[redacted: Private Key]\n"
    assert redact(text, DETECTOR.find(text)) == clean


def test_a_private_key_in_json_is_named_as_such():
    text = json.dumps({"private_key": key_block("PRIVATE KEY") + "\n"})
    assert [secret.rule for secret in DETECTOR.find(text)] == ["Private Key"]


def test_a_putty_key_is_covered_to_its_last_line():
    text = f"PuTTY-User-Key-File-3: ssh-rsa\n{made('', 64)}\nPrivate-MAC: 0f1e2d\nend"
    assert redact(text, DETECTOR.find(text)) == "[redacted: Private Key]\nend"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "We moved the ledger from Postgres to SQLite because one machine is enough.",
        "The rate limiter uses the token bucket algorithm, and the secret is to keep it small.",
        "Reset the password by mail; the secret: nobody reads the manual.",
        "Password: at least 12 characters",
        "password: optional",
        "PASSWORD=$DB_PASSWORD",
        'password = "${DB_PASSWORD}", secret = "<your secret>"',
        'password = os.environ["DB_PASSWORD"]',
        "node n1a2b3c4d5e6 of memory m9z8y7x6w5v4",
        "id 7c9e6679-7425-40de-944b-e07fc1f90ae7",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "commit da39a3ee5e6b4b0d3255bfef95601890afd80709 of 1764500000",
        "1764500000:da39a3ee5e6b4b0d3255bfef95601890afd80709",
        "integrity sha512-" + made("", 86) + "==",
        "image " + made("data:image/png;base64,", 5000),
        "token test_the_forty_four_characters_of_a_name_here",
        "APFixedPoint and APFloatSemantics are classes of LLVM.",
        "Clone git@host:team/repo.git or https://host:8443/path?mail=a@b.c",
        "JWTs look like eyJhbGciOi.eyJzdWIi.sig in the log.",
        "The public address is 93.184.216.34.",
        "-----BEGIN CERTIFICATE-----\n" + made("", 64) + "\n-----END CERTIFICATE-----",
    ],
)
def test_what_is_no_secret_is_left_alone(text):
    assert DETECTOR.find(text) == []


@pytest.mark.parametrize(("rule", "token"), CASES)
def test_a_redacted_text_has_no_secrets_left(rule, token):
    text = f'password = "{PASSWORD}"; token="{token}"; https://u:{PASSWORD}@h\n{key_block()}'
    assert DETECTOR.find(redact(text, DETECTOR.find(text))) == []


def test_redacting_replaces_each_secret_and_nothing_else():
    assert redact("abcdef", [Secret(1, 2, "x"), Secret(2, 4, "y")]) == (
        "a[redacted: x][redacted: y]ef"
    )
    assert redact("abc", []) == "abc"


def test_overlapping_secrets_become_one_under_the_rule_that_came_first():
    found = [Secret(5, 9, "first"), Secret(2, 6, "second"), Secret(9, 12, "third")]
    assert merge(found) == [Secret(2, 9, "first"), Secret(9, 12, "third")]
    assert merge([Secret(2, 6, "a"), Secret(2, 9, "b")]) == [Secret(2, 9, "a")]


PIECES = st.sampled_from(
    [
        *(JWT, AWS_ID, key_block(), key_block(end=False), "password", "eyJ", "://", "@"),
        *(" = ", ": ", '"', "'", "`", ";", "\n", "\\n", "é", "\ud800", "\0"),
    ]
) | st.text(max_size=8)


@given(st.lists(PIECES, max_size=12).map("".join))
def test_secrets_of_any_text_are_sorted_apart_and_inside_it(text):
    found = DETECTOR.find(text)
    ends = [0, *(secret.end for secret in found)]
    assert all(before <= s.start < s.end for before, s in zip(ends, found, strict=False))
    assert ends[-1] <= len(text)
    assert DETECTOR.find(text) == found


def test_a_header_nested_without_end_is_no_token():
    nested = base64.urlsafe_b64encode(b'{"alg":' + b"[" * 2990).decode().rstrip("=")
    assert DETECTOR.find(f"{nested}.e30.") == []


def test_threads_find_the_same():
    tokens = [token for each in TOKENS.values() for token in each]
    texts = [f"{i} {token} {i}" for i, token in enumerate(tokens * 20)]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(DETECTOR.find, texts)) == [DETECTOR.find(text) for text in texts]


REPEATED = [
    *("We keep it. ", "a", "xoxb-1-", "AKIA", "eyJ", "sk-", "secret", "secret.", "api_key: `"),
    *("password = '", "cl_key        ", "-----BEGIN PRIVATE KEY-----\n", "//", "aws key '"),
]


@pytest.mark.parametrize("unit", REPEATED)
def test_four_times_the_text_takes_no_more_than_some_times_as_long(unit):
    def seconds(size):
        text = (unit * (size // len(unit) + 1))[:size]
        begin = time.process_time()
        DETECTOR.find(text)
        return time.process_time() - begin

    small = min(seconds(1 << 16) for _ in range(3))
    large = min(seconds(1 << 18) for _ in range(2))
    assert large < 10 * small + 0.1


@pytest.mark.parametrize("unit", ["We moved the ledger. ", "ab\n", "0f"])
def test_a_text_of_one_mebibyte_is_read_in_seconds(unit):
    begin = time.process_time()
    DETECTOR.find(unit * ((1 << 20) // len(unit)))
    assert time.process_time() - begin < 20


def test_without_the_extra_the_message_says_how_to_get_it(monkeypatch):
    monkeypatch.delitem(sys.modules, "evomem.redaction.scanner")
    monkeypatch.setitem(sys.modules, "detect_secrets", None)
    monkeypatch.setitem(sys.modules, "detect_secrets.plugins", None)
    with pytest.raises(MissingExtraError, match=r"evomem-core\[redaction\]"):
        create_detector()
