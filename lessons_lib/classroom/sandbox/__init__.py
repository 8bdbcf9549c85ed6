"""What runs beside the student's code: a process of its own that is confined, runs cells, and
answers with plain data.

The files of this folder import nothing from the library, because they are run as a folder by a bare
interpreter, and the library is out of reach there. Started by ``classroom.runner``, used by
``lessons grade``.
"""
