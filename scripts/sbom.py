"""Print a bill of materials, CycloneDX 1.6 as JSON: sqlwright and every package that it brings.

Taken from what is installed beside it, so run it in the environment that is meant. Packages of the
development environment that sqlwright doesn't need are left out. The same environment gives the
same text.
"""

import json
import sys
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = "sqlwright"


def needed():
    """The distributions by name, and the names that each one needs here."""
    found, edges, waiting = {}, {}, [(ROOT, "")]
    while waiting:
        name, extra = waiting.pop()
        distribution = metadata.distribution(name)
        found[name] = distribution
        for text in distribution.requires or ():
            requirement = Requirement(text)
            if requirement.marker and not requirement.marker.evaluate({"extra": extra}):
                continue
            wanted = canonicalize_name(requirement.name)
            edges.setdefault(name, set()).add(wanted)
            if wanted not in found:
                waiting.append((wanted, ""))
            waiting.extend((wanted, inner) for inner in requirement.extras)
    return found, edges


def licences(distribution):
    """What a package says about its licence, in the form's words."""
    about = distribution.metadata
    if expression := about.get("License-Expression"):
        return [{"expression": expression}]
    classifiers = [c for c in about.get_all("Classifier") or () if c.startswith("License ::")]
    names = [c.rpartition(" :: ")[2] for c in classifiers]
    if not names and (text := (about.get("License") or "").strip()):
        names = [text.split("\n")[0][:100]]
    return [{"license": {"name": name}} for name in names or ["unknown"]]


def component(name, distribution):
    """One package."""
    reference = f"pkg:pypi/{name}@{distribution.version}"
    return {
        "type": "application" if name == ROOT else "library",
        "bom-ref": reference,
        "name": name,
        "version": distribution.version,
        "purl": reference,
        "licenses": licences(distribution),
    }


def bill():
    """The whole document."""
    found, edges = needed()
    parts = {name: component(name, found[name]) for name in sorted(found)}
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": parts[ROOT]},
        "components": [part for name, part in parts.items() if name != ROOT],
        "dependencies": [
            {
                "ref": part["bom-ref"],
                "dependsOn": sorted(parts[other]["bom-ref"] for other in edges.get(name, ())),
            }
            for name, part in parts.items()
        ],
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(bill(), indent=2) + "\n")
