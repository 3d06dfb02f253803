// SPDX-License-Identifier: Apache-2.0
/** One chain for each rule of `verifier-rules.ts`, which violates only that rule. */
import type { VerifierRuleId } from '#pki/x509/verifier-rule-table.ts';
import type { Certificate } from '#pki/x509/certificate.ts';
import { OID_SERVER_AUTH } from '#pki/der/oids.ts';
import { TRUE, extension, seq, utcTime } from '../../support/pki/der.ts';
import { ca, keyIds, link, purposes, san, usage, type Link } from '../../support/pki/chain.ts';
import { LEAF_KEY, type VerifierCase } from './cases.ts';

export interface RuleCase extends VerifierCase {
  /** The rule that it violates. Undefined for a chain that every verifier accepts. */
  readonly rule: VerifierRuleId | undefined;
  readonly chain: readonly Certificate[];
  readonly anchors: readonly Certificate[];
}

/** Some verifiers know no other time than now. */
const validity = seq(utcTime('200101000000Z'), utcTime('491231000000Z'));

const caWith = (name: string, extensions: readonly Uint8Array[], by?: Link): Link =>
  link(name, { validity, extensions, ...(by === undefined ? {} : { by }) });

const ROOT = [ca(), usage(), ...keyIds('root')];
const BELOW_ROOT = [ca(0), usage(), ...keyIds('issuing', 'root')];

function leafBelow(issuing: Link): Link {
  return link('leaf', {
    validity,
    key: LEAF_KEY,
    by: issuing,
    extensions: [
      extension('2.5.29.19', seq(), true),
      usage([0x80], 7),
      purposes(OID_SERVER_AUTH),
      san([2, 'a.example.com']),
      ...keyIds('leaf', issuing.name),
    ],
  });
}

interface Parts {
  readonly root?: readonly Uint8Array[];
  readonly issuing?: readonly Uint8Array[];
  readonly anchor?: 'root' | 'issuing';
}

function caseOf(name: string, rule: VerifierRuleId | undefined, parts: Parts): RuleCase {
  const root = caWith('root', parts.root ?? ROOT);
  const issuing = caWith('issuing', parts.issuing ?? BELOW_ROOT, root);
  const { certificate: anchor } = parts.anchor === 'issuing' ? issuing : root;
  return {
    name,
    rule,
    leaf: leafBelow(issuing).certificate.raw,
    intermediates: [issuing.certificate.raw],
    anchor: anchor.raw,
    chain: [issuing.certificate],
    anchors: [anchor],
  };
}

const NOT_CRITICAL = extension('2.5.29.19', seq(TRUE));

export const RULE_CASES: readonly RuleCase[] = [
  caseOf('a chain in the form of RFC 5280', undefined, {}),
  caseOf('the anchor is an intermediate', 'anchor-is-root', { anchor: 'issuing' }),
  caseOf('the root has basicConstraints that are not critical', 'ca-constraints-critical', {
    root: [NOT_CRITICAL, usage(), ...keyIds('root')],
  }),
  caseOf('the intermediate has basicConstraints that are not critical', 'ca-constraints-critical', {
    issuing: [NOT_CRITICAL, usage(), ...keyIds('issuing', 'root')],
  }),
  caseOf('the root has no keyUsage', 'ca-key-usage', { root: [ca(), ...keyIds('root')] }),
  caseOf('the intermediate has no keyUsage', 'ca-key-usage', {
    issuing: [ca(0), ...keyIds('issuing', 'root')],
  }),
  caseOf('the root has no subjectKeyIdentifier', 'ca-key-identifier', { root: [ca(), usage()] }),
  caseOf('the intermediate has no authorityKeyIdentifier', 'issuer-key-identifier', {
    issuing: [ca(0), usage(), ...keyIds('issuing')],
  }),
];
