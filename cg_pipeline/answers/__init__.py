"""How an answer is read out of a generated text: pure functions that scoring policies share.

Why a package beside `scoring`: a policy is one file that leans on no other policy, so what
two of them need lies below both. The fingerprint of a policy follows its imports into this
package, and nowhere else: editing a reader here rescores the benchmarks that use it, from
the completions that are stored.

Every reader takes text of any length and any characters, in time that grows with the length;
what it cannot read is None, never a guess.
"""
