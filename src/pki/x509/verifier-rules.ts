// SPDX-License-Identifier: Apache-2.0
import { quote } from '#base/quote.ts';
import { nameText } from '../names/distinguished-name.ts';
import type { Certificate } from './certificate.ts';
import type { PublishedTrust } from './delivered-chain.ts';
import { SignatureBudget, sameIn } from './issuers.ts';
import { VERIFIER_RULES, type VerifierName, type VerifierRuleId } from './verifier-rule-table.ts';

/** A rule that a certificate violates. */
export interface VerifierFinding {
  readonly rule: VerifierRuleId;
  readonly certificate: Certificate;
  /** The verifiers that reject leaves because of it. */
  readonly rejectedBy: readonly VerifierName[];
  /** Name, problem and the verifiers, without an end. */
  readonly message: string;
}

/**
 * Returns which verifiers reject leaves below these CAs, and why. Of the anchors it judges those to
 * which the chain leads. Without a chain it judges all.
 */
export function judgeTrust(trust: PublishedTrust): readonly VerifierFinding[] {
  const { chain, anchors } = trust;
  const judged = chain.length === 0 ? anchors : [...chain, ...anchors.filter(usedBy(trust))];
  const each = judged.filter(
    (one, at) => judged.findIndex(({ raw }) => Buffer.compare(raw, one.raw) === 0) === at,
  );
  return each.flatMap((certificate) =>
    VERIFIER_RULES.filter(({ violates }) => violates(certificate, trust)).map(
      ({ id, rejectedBy, problem }) => ({
        rule: id,
        certificate,
        rejectedBy,
        message: `${quote(nameText(certificate.subject), MAX_SHOWN_SUBJECT)} ${problem}: rejected by ${rejectedBy.join(', ')}`,
      }),
    ),
  );
}

/**
 * Limit of signatures for a set of anchors whose CAs are unknown: one for each of a hundred, and
 * those above them.
 */
const MAX_ANCHOR_SIGNATURES = 400;

/**
 * Returns which verifiers reject leaves below one of these anchors, and why, or undefined. The
 * anchors may be of any author, so the work is bounded.
 *
 * @param now - milliseconds since 1970
 */
export function rejectedAnchor(anchors: readonly Certificate[], now: number): string | undefined {
  const signatures = new SignatureBudget(MAX_ANCHOR_SIGNATURES);
  return judgeTrust({ chain: [], anchors, now, signatures })[0]?.message;
}

/** The length of a name in a message, in UTF-16 units. */
const MAX_SHOWN_SUBJECT = 100;

/** Selects the anchors that end a path from the CA. */
function usedBy({ chain, anchors }: PublishedTrust): (anchor: Certificate) => boolean {
  const issuers = new Set(chain.map(({ issuer }) => Buffer.from(issuer.raw).toString('hex')));
  return (anchor) =>
    sameIn(anchor, chain) !== undefined ||
    issuers.has(Buffer.from(anchor.subject.raw).toString('hex')) ||
    anchors.length === 1;
}
