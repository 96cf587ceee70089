"""
What words mean: synonyms and aliases of English, glossaries of other languages, as tables of text.

`english/*.txt`: `a, b, c` are words for the same thing; `a > b, c` says that who asks for a may mean b or c, but
not the other way round. `stopwords.txt`, `weak.txt` and `brands.txt` there are plain lists. `glossary/xx.txt`:
words of a language, `=`, the English words for them with the likeliest first; `_` joins words into one phrase, and
`-` stands for nothing. Everything is general knowledge of the field: no table is written from anybody's queries.
"""
