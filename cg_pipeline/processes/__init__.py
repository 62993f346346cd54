"""The only place of the method that starts processes: programs under limits, and work with a deadline.

Why below `scoring`: it knows no example and no benchmark, only programs, texts and limits.
Why processes at all: a program written by a model may do anything, and symbolic algebra may
take forever; neither can be stopped from within a thread. A policy that runs programs is
*given* a runner (`protocols.CodeRunner`), for that is the user's decision; one that compares
formulas starts its helper itself, for what runs there is a library's code.
"""
