// SPDX-License-Identifier: Apache-2.0
import { quote } from '#base/quote.ts';
import {
  isComparable,
  isComparableConstraint,
  isExcluded,
  isContiguousMask,
  isPermitted,
  type ConstraintKind,
  type NameConstraint,
} from '../names/constraint-match.ts';
import type { SubjectAltNames } from '../names/general-names.ts';
import { readWhole, type DerReader } from '../der/der-reader.ts';
import { contextConstructed, contextPrimitive } from '../der/der-tags.ts';
import { asciiOf } from '../der/der-text.ts';
import { smallInteger } from '../der/der-values.ts';
import { inputError, malformed } from '../der/input-error.ts';

/**
 * The limit of subtrees. Each name is compared with each subtree, so the product must be bounded.
 */
const MAX_SUBTREES = 100;
const MAX_NAME_CONSTRAINTS_BYTES = 64 * 1024;

/** A decoded nameConstraints extension (RFC 5280 §4.2.1.10). */
export interface NameConstraints {
  /** Permitted subtrees. If a kind has none here, all its names are permitted. */
  readonly permitted: readonly NameConstraint[];
  readonly excluded: readonly NameConstraint[];
  /** True if there are subtrees of kinds that cannot be compared, such as directoryName. */
  readonly hasOther: boolean;
}

const KINDS: ReadonlyMap<number, ConstraintKind> = new Map([
  [contextPrimitive(1), 'email'],
  [contextPrimitive(2), 'dns'],
  [contextPrimitive(6), 'uri'],
  [contextPrimitive(7), 'ip'],
]);

/**
 * Decodes a nameConstraints extension: 1 to 100 subtrees in each list (RFC 5280 §4.2.1.10).
 *
 * @param value - the contents of the extnValue OCTET STRING
 * @throws SignerError DER_MALFORMED or DER_LIMIT
 */
export function decodeNameConstraints(value: Uint8Array): NameConstraints {
  const fields = readWhole(value, 'nameConstraints', MAX_NAME_CONSTRAINTS_BYTES);
  const permitted = readSubtrees(fields, contextConstructed(0));
  const excluded = readSubtrees(fields, contextConstructed(1));
  fields.finish();
  if (permitted.count + excluded.count === 0) throw malformed('nameConstraints is empty');
  return {
    permitted: permitted.known,
    excluded: excluded.known,
    hasOther: permitted.count + excluded.count > permitted.known.length + excluded.known.length,
  };
}

interface Subtrees {
  readonly known: readonly NameConstraint[];
  readonly count: number;
}

function readSubtrees(fields: DerReader, tag: number): Subtrees {
  if (!fields.at(tag)) return { known: [], count: 0 };
  const list = fields.enter(tag, 'nameConstraints');
  const known: NameConstraint[] = [];
  let count = 0;
  while (!list.isDone()) {
    count += 1;
    if (count > MAX_SUBTREES) {
      throw inputError('DER_LIMIT', `nameConstraints has more than ${MAX_SUBTREES} subtrees`);
    }
    const subtree = list.sequence('a name constraint');
    const found = subtree.peek() ?? 0;
    const kind = KINDS.get(found);
    if (kind === undefined) subtree.raw('a name constraint');
    else known.push(subtreeOf(kind, subtree.read(found, 'a name constraint')));
    readMinimum(subtree);
    // maximum is absent (RFC 5280 §4.2.1.10).
    subtree.finish();
  }
  return { known, count };
}

/**
 * Reads the minimum, which is 0 (RFC 5280 §4.2.1.10). DER omits it as the default, but it means the
 * same where it is written. OpenSSL applies no constraint with another one, and Go ignores it.
 */
function readMinimum(subtree: DerReader): void {
  if (!subtree.at(contextPrimitive(0))) return;
  const minimum = subtree.read(contextPrimitive(0), 'the minimum of a name constraint');
  smallInteger(minimum, 'the minimum of a name constraint', 0);
}

function subtreeOf(kind: ConstraintKind, base: Uint8Array): NameConstraint {
  if (kind === 'ip') {
    if (base.length !== 8 && base.length !== 32) {
      throw malformed(`a name constraint has an address range of ${base.length} bytes`);
    }
    if (!isContiguousMask(base.subarray(base.length / 2))) {
      throw malformed('a name constraint has an address mask with gaps');
    }
    return { kind, range: base };
  }
  const text = asciiOf(base, 'a name constraint');
  if (!isComparableConstraint(kind, text)) {
    throw malformed(`the name constraint ${quote(text)} is not one for ${kind} names`);
  }
  return { kind, text };
}

/**
 * Checks the names of a path against the name constraints of its next issuer (RFC 5280 §6.1.3 b,
 * c).
 *
 * @param constraints - of the issuer, or undefined when it has none
 * @param path - the subject alternative names of each certificate below the issuer
 * @returns why the path is invalid, or undefined when it is valid
 */
export function violatedConstraint(
  constraints: NameConstraints | undefined,
  path: readonly { readonly sans: SubjectAltNames }[],
): string | undefined {
  if (constraints === undefined) return undefined;
  for (const { sans } of path) {
    const wrong =
      firstOutside(constraints, 'dns', sans.dnsNames) ??
      firstOutside(constraints, 'ip', sans.ipAddresses) ??
      firstOutside(constraints, 'uri', sans.uris) ??
      firstOutside(constraints, 'email', sans.emails);
    if (wrong !== undefined) {
      return `the name "${wrong.slice(0, 100)}" is outside a CA’s name constraints`;
    }
  }
  return undefined;
}

function firstOutside(
  constraints: NameConstraints,
  kind: ConstraintKind,
  names: readonly string[],
): string | undefined {
  const permitted = constraints.permitted.filter((each) => each.kind === kind);
  const excluded = constraints.excluded.filter((each) => each.kind === kind);
  return names.find(
    (name) =>
      !isComparable(name, kind) ||
      (permitted.length > 0 && !permitted.some((each) => isPermitted(name, each))) ||
      excluded.some((each) => isExcluded(name, each)),
  );
}
