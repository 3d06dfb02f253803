// SPDX-License-Identifier: Apache-2.0
import type { RequestsSpec } from '../../src/api/signer/cluster-signer.ts';
import { tlv } from '../support/pki/der.ts';
import { CN, O, ONE_HOST, OU, OWN_NAME, type Wanted } from './request.ts';
import type { VerdictOutcome } from '../../src/policy/review.ts';

export interface ReviewRow {
  readonly law: string;
  readonly requests: RequestsSpec;
  readonly wanted: Wanted;
  readonly outcome: VerdictOutcome;
  /** Of the last reason. */
  readonly message: RegExp;
}

/** Requests that mean to get more than a rule names, and what they get. */
export const REVIEW_ROWS: readonly ReviewRow[] = [
  {
    law: 'a request that a rule allows whole is approved',
    requests: OWN_NAME,
    wanted: {
      subject: [
        [O, 'dev'],
        [CN, 'jane'],
      ],
    },
    outcome: 'approve',
    message: /^allows the whole request$/,
  },
  {
    law: 'an organization beside an approved common name must be allowed too',
    requests: OWN_NAME,
    wanted: {
      subject: [
        [O, 'kubeadm:cluster-admins'],
        [CN, 'jane'],
      ],
    },
    outcome: 'noOpinion',
    message: /^allow\.organizations does not allow "kubeadm:cluster-admins"$/,
  },
  {
    law: 'one organization too many is one too many',
    requests: OWN_NAME,
    wanted: {
      subject: [
        [O, 'dev'],
        [O, 'admins'],
        [CN, 'jane'],
      ],
    },
    outcome: 'noOpinion',
    message: /^allow\.organizations does not allow "admins"$/,
  },
  {
    law: 'a field that allow does not name must be empty: organizational units',
    requests: OWN_NAME,
    wanted: {
      subject: [
        [OU, 'x'],
        [CN, 'jane'],
      ],
    },
    outcome: 'noOpinion',
    message: /^allow does not name organizationalUnits, which the request has: "x"$/,
  },
  {
    law: 'a field that allow does not name must be empty: one SAN more',
    requests: OWN_NAME,
    wanted: { dnsNames: ['kubernetes.default.svc'] },
    outcome: 'noOpinion',
    message: /^allow does not name dnsNames, which the request has: "kubernetes\.default\.svc"$/,
  },
  {
    law: 'a field that allow does not name must be empty: IP addresses, URIs and emails',
    requests: OWN_NAME,
    wanted: { ipAddresses: [[10, 0, 0, 1]], uris: ['spiffe://a/b'], emails: ['a@b.example'] },
    outcome: 'noOpinion',
    message:
      /name ipAddresses.*"10\.0\.0\.1", .*name uris.*"spiffe:\/\/a\/b", .*name emails.*"a@b\.example"$/,
  },
  {
    law: 'a common name must be allowed where only a host is',
    requests: ONE_HOST,
    wanted: { dnsNames: ['a.example.com'], usages: ['server auth'] },
    outcome: 'noOpinion',
    message: /^allow does not name commonName, which the request has: "jane"$/,
  },
  {
    law: 'no rule can allow a subject attribute that no field names',
    requests: OWN_NAME,
    wanted: {
      subject: [
        ['2.5.4.6', 'DE'],
        [CN, 'jane'],
      ],
    },
    outcome: 'noOpinion',
    message: /^no rule can allow "subject attribute 2\.5\.4\.6"$/,
  },
  {
    law: 'no rule can allow a SAN of a kind that no field names',
    requests: OWN_NAME,
    wanted: { otherNames: [tlv(0x88, [0x2a, 0x03])] },
    outcome: 'noOpinion',
    message: /^no rule can allow "1 subject alternative names? of other kinds"$/,
  },
  {
    law: 'one usage more is one too many, though the profile has it',
    requests: OWN_NAME,
    wanted: { usages: ['digital signature', 'client auth', 'server auth'] },
    outcome: 'noOpinion',
    message: /^allow\.usages does not allow "server auth", only digital signature, client auth$/,
  },
  {
    law: 'a usage that the rule has and the profile has not is not allowed',
    requests: {
      ...OWN_NAME,
      rules: [{ name: 'r', when: 'true', allow: { commonName: 'true', usages: ['code signing'] } }],
    },
    wanted: { usages: ['code signing'] },
    outcome: 'noOpinion',
    message: /^allow\.usages does not allow "code signing", only none$/,
  },
  {
    law: 'a rule without usages allows none',
    requests: { ...OWN_NAME, rules: [{ name: 'r', when: 'true', allow: { commonName: 'true' } }] },
    wanted: {},
    outcome: 'noOpinion',
    message: /^allow\.usages does not allow "digital signature", "client auth", only none$/,
  },
  {
    law: 'a request without usages is allowed by no rule',
    requests: OWN_NAME,
    wanted: { usages: [] },
    outcome: 'noOpinion',
    message: /^the request has no usages$/,
  },
  {
    law: 'a wildcard is not the host that is allowed',
    requests: ONE_HOST,
    wanted: { subject: [], dnsNames: ['*.example.com'], usages: ['server auth'] },
    outcome: 'noOpinion',
    message: /^allow\.dnsNames does not allow "\*\.example\.com"$/,
  },
  {
    law: 'every value of a field is asked, not only the first',
    requests: ONE_HOST,
    wanted: {
      subject: [],
      dnsNames: ['a.example.com', 'b.example.com'],
      usages: ['server auth'],
    },
    outcome: 'noOpinion',
    message: /^allow\.dnsNames does not allow "b\.example\.com"$/,
  },
  {
    law: 'names are compared by case',
    requests: OWN_NAME,
    wanted: { subject: [[CN, 'Jane']] },
    outcome: 'noOpinion',
    message: /^does not apply: when is false$/,
  },
  {
    law: 'a name in another spelling than the canonical one has no opinion for it',
    requests: ONE_HOST,
    wanted: { subject: [], dnsNames: ['A.example.com'], usages: ['server auth'] },
    outcome: 'noOpinion',
    message: /"A\.example\.com" is not in canonical form; write "a\.example\.com"/,
  },
  {
    law: 'a common name that begins with a blank is nobody’s',
    requests: { ...OWN_NAME, rules: [{ name: 'r', when: 'true', allow: { commonName: 'true' } }] },
    wanted: { subject: [[CN, ' jane']] },
    outcome: 'noOpinion',
    message: /the subject has " jane"/,
  },
  {
    law: 'a lifetime that is not asked for is the longest that the signer gives',
    requests: {
      ...OWN_NAME,
      rules: [
        {
          name: 'short',
          when: 'request.expirationSeconds <= 3600',
          allow: { commonName: 'true', usages: ['digital signature', 'client auth'] },
        },
      ],
    },
    wanted: {},
    outcome: 'noOpinion',
    message: /^does not apply: when is false$/,
  },
];
