"""The services of QDN: the kinds of publication. Resources have the name, transactions the code."""

from msgspec import Struct


class Service(Struct, frozen=True):
    code: int
    name: str

    @property
    def is_private(self) -> bool:
        """Private services hold encrypted data only."""
        return self.name.endswith("_PRIVATE")


SERVICES = (
    Service(1, "AUTO_UPDATE"),
    Service(100, "ARBITRARY_DATA"),
    Service(120, "QCHAT_ATTACHMENT"),
    Service(121, "QCHAT_ATTACHMENT_PRIVATE"),
    Service(130, "ATTACHMENT"),
    Service(131, "ATTACHMENT_PRIVATE"),
    Service(140, "FILE"),
    Service(141, "FILE_PRIVATE"),
    Service(150, "FILES"),
    Service(160, "CHAIN_DATA"),
    Service(200, "WEBSITE"),
    Service(300, "GIT_REPOSITORY"),
    Service(400, "IMAGE"),
    Service(401, "IMAGE_PRIVATE"),
    Service(410, "THUMBNAIL"),
    Service(420, "QCHAT_IMAGE"),
    Service(500, "VIDEO"),
    Service(501, "VIDEO_PRIVATE"),
    Service(600, "AUDIO"),
    Service(601, "AUDIO_PRIVATE"),
    Service(610, "QCHAT_AUDIO"),
    Service(620, "QCHAT_VOICE"),
    Service(630, "VOICE"),
    Service(631, "VOICE_PRIVATE"),
    Service(640, "PODCAST"),
    Service(700, "BLOG"),
    Service(777, "BLOG_POST"),
    Service(778, "BLOG_COMMENT"),
    Service(800, "DOCUMENT"),
    Service(801, "DOCUMENT_PRIVATE"),
    Service(900, "LIST"),
    Service(910, "PLAYLIST"),
    Service(1000, "APP"),
    Service(1100, "METADATA"),
    Service(1110, "JSON"),
    Service(1200, "GIF_REPOSITORY"),
    Service(1300, "STORE"),
    Service(1310, "PRODUCT"),
    Service(1330, "OFFER"),
    Service(1340, "COUPON"),
    Service(1400, "CODE"),
    Service(1410, "PLUGIN"),
    Service(1420, "EXTENSION"),
    Service(1500, "GAME"),
    Service(1510, "ITEM"),
    Service(1600, "NFT"),
    Service(1700, "DATABASE"),
    Service(1710, "SNAPSHOT"),
    Service(1800, "COMMENT"),
    Service(1810, "CHAIN_COMMENT"),
    Service(1900, "MAIL"),
    Service(1901, "MAIL_PRIVATE"),
    Service(1910, "MESSAGE"),
    Service(1911, "MESSAGE_PRIVATE"),
)

# Public, a single file, and meant to be text: what can be shown without unpacking or running anything.
TEXT_SERVICES = frozenset(
    {"CHAIN_DATA", "BLOG_POST", "DOCUMENT", "METADATA", "JSON", "COMMENT", "CHAIN_COMMENT"}
)

_BY_NAME = {service.name: service for service in SERVICES}
_BY_CODE = {service.code: service for service in SERVICES}


def find_service(text: str) -> Service | None:
    """By name in any case, or by code."""
    text = text.strip()
    if text.isascii() and text.isdecimal():
        return _BY_CODE.get(int(text)) if len(text) <= 6 else None
    return _BY_NAME.get(text.upper())


def service_name(code: int) -> str | None:
    """The name of a service code in a transaction; None for unknown codes."""
    service = _BY_CODE.get(code)
    return None if service is None else service.name
