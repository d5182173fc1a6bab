"""A token is good for one decision until its deadline, and no other text is a token."""

from __future__ import annotations

import base64

import pytest

from slotwise.service.decisions.outcome_tokens import ForgedToken, Signer, Token

ID = "0123456789abcdef" * 2


def test_a_token_says_what_was_signed() -> None:
    assert Signer(b"secret").read(Signer(b"secret").sign(ID, 7.5)) == Token(ID, 7.5)


def test_every_changed_byte_makes_it_a_forgery() -> None:
    signer = Signer(b"secret")
    raw = base64.urlsafe_b64decode(signer.sign(ID, 7.5))
    assert len(raw) == 16 + 8 + 32
    for place in range(len(raw)):
        changed = raw[:place] + bytes([raw[place] ^ 1]) + raw[place + 1 :]
        with pytest.raises(ForgedToken):
            signer.read(base64.urlsafe_b64encode(changed).decode())


@pytest.mark.parametrize("text", ["", "!", "AAAA", "é", "A" * 10_000])
def test_other_texts_are_forgeries(text: str) -> None:
    with pytest.raises(ForgedToken):
        Signer(b"secret").read(text)


def test_shorter_and_longer_contents_are_forgeries_though_they_are_signed() -> None:
    signer = Signer(b"secret")
    for content in (b"", b"\0" * 23, b"\0" * 25):
        with pytest.raises(ForgedToken):
            signer.read(base64.urlsafe_b64encode(content + signer._signature(content)).decode())
