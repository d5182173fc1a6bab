"""Tests of slotwise.judgements."""
