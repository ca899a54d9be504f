"""Checking documents about evaluations against the numbered requirements, whoever wrote them: data in, rulings out.

from sirocco.conformance.checking import check_document
rulings = check_document(document)
"""
