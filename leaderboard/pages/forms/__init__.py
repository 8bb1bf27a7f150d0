"""What people may send, by noun: checked for shape here, for being allowed by the verbs."""
