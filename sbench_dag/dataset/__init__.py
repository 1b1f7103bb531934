"""The data set contract: episodes, their end states and truths, and what models answered about them.

An episode is identified by (data set revision, episode id): two revisions can hold episodes of one name with
different content. Every reader validates and raises `InputError` with file, field and value.
"""
