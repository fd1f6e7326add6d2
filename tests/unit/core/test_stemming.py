"""Which words of Spanish and German meet, which must not, and that English stays as it was."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evomem.domain.analysis import tokens
from evomem.domain.stemming import stem

SPANISH = """
decisión decisiones | servidor servidores | error errores | base bases | valor valores
función funciones | versión versiones | usuario usuarios | ciudad ciudades | red redes
papel papeles | mes meses | país países | luz luces | vez veces | pared paredes | árbol árboles
canal canales | nivel niveles | señal señales | general generales | español españoles
imagen imágenes | examen exámenes | orden órdenes | origen orígenes | control controles
móvil móviles | ley leyes | autor autores | cliente clientes | clave claves | cable cables
contraseña contraseñas | índice índices | motor motores | color colores | factor factores
vector vectores | proveedor proveedores | procesador procesadores | mujer mujeres | lugar lugares
ejemplar ejemplares | militar militares | líder líderes | carácter caracteres | razón razones
botón botones | patrón patrones | manual manuales | total totales | principal principales
hospital hospitales | especial especiales | vertical verticales | normal normales | raíz raíces
voz voces | interés intereses | perfil perfiles | solicitud solicitudes | volumen volúmenes
libro libros | tabla tablas | unidad unidades | dólar dólares | joven jóvenes | común comunes
poder poderes | monitor monitores | gramo gramos | préstamo préstamos
usar usando usamos usaron usaban usaremos | migrar migrando migramos migraron
cambiar cambiando cambiamos cambiaron cambiaban | guardar guardando guardaremos
"""
GERMAN = """
Rechnung Rechnungen | Datei Dateien | Server Servern | Tabelle Tabellen | Datenbank Datenbanken
Fehler Fehlern | Schlüssel Schlüsseln | Version Versionen | Funktion Funktionen
Benutzer Benutzern | Haus Häuser Häusern | Dienst Dienste Diensten | Projekt Projekte Projekten
Prozess Prozesse Prozessen | Entscheidung Entscheidungen | Adresse Adressen | Sprache Sprachen
Woche Wochen | Monat Monate Monaten | Jahr Jahre Jahren | Kunde Kunden | Nachricht Nachrichten
Ergebnis Ergebnisse Ergebnissen | Verzeichnis Verzeichnisse | Zertifikat Zertifikate Zertifikaten
Sicherheit Sicherheiten | Möglichkeit Möglichkeiten | Eigenschaft Eigenschaften | Konto Konten
Buch Bücher Büchern | Wert Werte Werten | Feld Felder Feldern | Bild Bilder Bildern
Vertrag Verträge Verträgen | Antrag Anträge | Eintrag Einträge | Zugang Zugänge
Ablauf Abläufe Abläufen | Stadt Städte | Anfrage Anfragen | Aufgabe Aufgaben | Vorlage Vorlagen
Seite Seiten | Webseite Webseiten | Laufzeit Laufzeiten | Sekunde Sekunden | Stunde Stunden
Instanz Instanzen | Lizenz Lizenzen | Priorität Prioritäten | Bericht Berichte Berichten
Vorschrift Vorschriften | Zugriff Zugriffe | Schritt Schritte Schritten | Punkt Punkte Punkten
Paket Pakete | System Systeme Systemen | Problem Probleme | Modell Modelle Modellen
Format Formate | Formular Formulare | Element Elemente | Dokument Dokumente Dokumenten
Komponente Komponenten | Variante Varianten | Variable Variablen | Schnittstelle Schnittstellen
Gruppe Gruppen | Zeile Zeilen | Spalte Spalten | Name Namen | Dateiname Dateinamen
Passwort Passwörter Passwörtern | Mitglied Mitglieder | Partner Partnern | Gerät Geräte
Methode Methoden | Regel Regeln | Klasse Klassen | Quelle Quellen | Rolle Rollen
Container Containern | Straße Straßen | Grund Gründe | Datensatz Datensätze | Netz Netze
Vorfall Vorfälle | Region Regionen | Thema Themen
"""
SPANISH_APART = """
caso casa | libro libra | puerto puerta | modo moda | cuenta cuento | banco banca | punto punta
fallo falla | papel papa | orden ordenador | dato data | servicio servidor | autor auto
motor moto | color cola | valor vale | canal cana | mes mesa | país paisaje | vez vecino
voz vocal | ley leyenda | usuario usura | versión verso | función fundar | clave clavo
nivel nivelar | general generar | manual mano | razón raza | imagen imán | origen orilla
líder lidiar | bando banda | mando manda | tramo trama | ramo rama | base bas | red rede
mover moverse | Armando armar | Orlando orlar | Dolores dolor | Ángeles ángel
Morales moral | Fernando Fernández | Ramos rar | Flores flor | Reyes rey | Charon char
Cáceres cacera | Alamos alar | MAX_ERRORES MAX_ERROR | user_ids user_id | nodes-api node-api
clienteIds clienteId | canales.py canal.py | tablas/usuarios tabla/usuario | v1.2.3 v1.2
errores404 error404 | db.claves db.clave | as a | ios io | dns dn | mas ma | dos do
"""
GERMAN_APART = """
Datei Daten Datum | Fehler fehlen | Server Service | Schlüssel Schluss | Bild bilden Bildung
Feld Fels | Wert werden | Buch buchen | Konto Kontor | Rolle Roller | Karte Karton | Seite seit
Zeit Zeitung | Stadt statt | Monat Monitor | Tag Tagung | Punkt Punk | Paket Pakt | Format formal
Modell Modul | Zug Zugang | Gang ganz | Satz Salz | Netz Nest | Platz plant | Lauf laut
Sprache Spruch | Woche wach | Regel rege | Gruppe Grippe | Zeile Ziele | Spalte Spalt
Frage fragil | Aufgabe aufgeben | Klasse Klassik | Prozess Prozent | Dienst Dienstag
Stelle Stall | Quelle Qualle | Instanz instant | Aachen Aache | Franz Franzen | Nis Nissen
Clemente Clement | Hessen Hesse Hess | list listen | pattern patter | modern moder | open ope op
golden gold | garden gard | token tok | even eve | oven ove | children child | lander land
kitchen kitche | western wester | concern concer | const_werte const_wert | dateiNamen dateiName
dienste-api dienst-api | konten.py konto.py | SERVER_TAGE SERVER_TAG | felder2 feld2
an ann | es e | des de | wen we
"""


def groups(lines: str) -> list[str]:
    return [group.strip() for line in lines.strip().splitlines() for group in line.split("|")]


def tell_apart(words: list[str]) -> bool:
    return len({tuple(tokens(word)) for word in words}) == len(words)


@pytest.mark.parametrize("group", groups(SPANISH) + groups(GERMAN.replace("", "")))
def test_forms_of_a_word_meet(group):
    assert len({tuple(tokens(word)) for word in group.split()}) == 1


@pytest.mark.parametrize("group", groups(SPANISH_APART) + groups(GERMAN_APART))
def test_other_words_names_and_identifiers_do_not(group):
    assert tell_apart(group.split())


@pytest.mark.parametrize(
    "group",
    [
        "fetchItems fetchItem",
        "getUsers getUser",
        "userIds userId",
        "cachedValues cachedValue",
        "user_ids user_id",
        "retries_max retry_max",
        "StatusCodes StatusCode",
        "errores_max error_max",
        "parseTabellen parseTabelle",
    ],
)
def test_identifiers_share_parts_and_never_the_whole(group):
    one, other = (tokens(word) for word in group.split())
    assert one[0] != other[0]
    assert one[0] == group.split()[0].casefold()
    assert set(one) & set(other)


# Words of English whose endings other languages use.
ENGLISH = """
planes plane | roles role | locales locale | stores store | scores score | restores restore
sales sale | scales scale | males male | files file | profiles profile | mobiles mobile
rules rule | modules module | zones zone | phones phone | genes gene | scenes scene
lines line | pipelines pipeline | machines machine | attitudes attitude | magnitudes magnitude
shares share | softwares software | spheres sphere | services service | devices device
sources source | interfaces interface | databases database | houses house
rationales rationale | dynamos dynamo | llamas llama | textiles textile | projectiles projectile
"""


@pytest.mark.parametrize("group", groups(ENGLISH))
def test_english_plurals_still_meet(group):
    assert len({tuple(tokens(word)) for word in group.split()}) == 1


def test_english_words_that_end_as_in_german_or_spanish_are_kept():
    text = "token open given written often golden hidden between children kitchen screen pattern "
    text += "modern concern govern lantern extern intern collagen dozen frozen citizen commonage "
    text += "salmon person season reason canyon baron macaron arbitrage outrage image wage"
    assert tokens(text) == text.split()


@given(st.text(string.ascii_lowercase, max_size=14) | st.sampled_from(groups(GERMAN)))
def test_a_stem_is_its_own_stem_and_never_longer(word):
    short = stem(word)
    assert stem(short) == short
    assert len(short) <= len(word)
    assert bool(short) == bool(word)
