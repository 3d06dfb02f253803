// SPDX-License-Identifier: Apache-2.0
import { sameBytes } from '#base/bytes.ts';
import type { Certificate } from './certificate.ts';
import { SignatureBudget, issuersOf } from './issuers.ts';
import { caFault } from './path.ts';

/** Published anchors, and the CA whose leaves they are for. */
export interface PublishedTrust {
  /** The CA, then the CAs above it in any order. Empty if they are unknown. */
  readonly chain: readonly Certificate[];
  readonly anchors: readonly Certificate[];
  /** Milliseconds since 1970. */
  readonly now: number;
  /** Limits the signatures that are verified. Default: one for each search. */
  readonly signatures?: SignatureBudget | undefined;
}

/** A certificate above the leaf, with the certificates of its issuers that were found. */
interface Node {
  readonly certificate: Certificate;
  readonly issuers: readonly Certificate[];
}

/**
 * Returns the certificates that servers send after a leaf: those of the CA and above it that are
 * valid and lead to an anchor, without self-signed ones. Each comes before its issuers. A
 * cross-certified CA is verified by clients of either root. A certificate that is expired, or that
 * leads to no anchor, is left out.
 *
 * The search visits each certificate once, so that its work grows with the number of pairs at most.
 */
export function deliveredChain(input: PublishedTrust): readonly Certificate[] {
  const { signatures = new SignatureBudget() } = input;
  const nodes = reached(input, signatures);
  const roots = nodes
    .map(({ certificate }) => certificate)
    .filter((each) => signatures.isSelfSigned(each));
  // The root is unknown, so any of these may lead to it.
  const leading = roots.length === 0 ? nodes : leadingTo(nodes, [...input.anchors, ...roots]);
  return leading.map(({ certificate }) => certificate).filter((each) => !roots.includes(each));
}

/** Finds the certificates that are above a leaf, nearest first. */
function reached(input: PublishedTrust, signatures: SignatureBudget): readonly Node[] {
  const { chain, anchors, now } = input;
  const [ca] = chain;
  if (ca === undefined) return [];
  const known = unique([...chain, ...anchors]);
  const valid = (each: Certificate, below: number): boolean =>
    caFault(each, { below, now }) === undefined;
  const found: Node[] = [];
  let level = known.filter((each) => isSameCa(each, ca) && valid(each, 0));
  for (let below = 1; level.length > 0; below += 1) {
    const seen = new Set([...found.map((each) => each.certificate), ...level]);
    const nodes = level.map((child) => ({
      certificate: child,
      issuers: signatures.isSelfSigned(child)
        ? []
        : issuersOf(child, known)
            .filter((each) => each !== child && valid(each, seen.has(each) ? 0 : below))
            .filter((each) => signatures.isSignedBy(child, each) === true),
    }));
    found.push(...nodes);
    level = unique(nodes.flatMap(({ issuers }) => issuers)).filter((each) => !seen.has(each));
  }
  return found;
}

/** Returns the nodes from which one of these certificates can be reached, in the same order. */
function leadingTo(nodes: readonly Node[], ends: readonly Certificate[]): readonly Node[] {
  const isEnd = (each: Certificate): boolean => ends.some(({ raw }) => sameBytes(raw, each.raw));
  const leading = new Set(nodes.map(({ certificate }) => certificate).filter(isEnd));
  let before = -1;
  while (before < leading.size) {
    before = leading.size;
    for (const { certificate, issuers } of nodes) {
      if (issuers.some((each) => leading.has(each))) leading.add(certificate);
    }
  }
  return nodes.filter(({ certificate }) => leading.has(certificate));
}

/** Reports whether two certificates are of the same CA: its leaves are below both. */
export function isSameCa(a: Certificate, b: Certificate): boolean {
  return sameBytes(a.subject.raw, b.subject.raw) && sameBytes(a.publicKey.spki, b.publicKey.spki);
}

function unique(certificates: readonly Certificate[]): readonly Certificate[] {
  return certificates.filter(
    (each, at) => certificates.findIndex(({ raw }) => sameBytes(raw, each.raw)) === at,
  );
}
