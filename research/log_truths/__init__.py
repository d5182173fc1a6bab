"""What `slotwise fit` and `slotwise evaluate` say of logs, against truths that are not slotwise's own fits."""
