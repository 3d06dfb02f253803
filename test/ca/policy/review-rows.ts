// SPDX-License-Identifier: Apache-2.0
import type { RequestsSpec } from '#api/signer/cluster-signer.ts';
import { tlv } from '../../support/pki/der.ts';
import { CN, O, ONE_HOST, OU, OWN_NAME, type Wanted } from './request.ts';
import type { VerdictOutcome } from '#ca/policy/review.ts';

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
    law: 'a request is approved if a rule allows all of it',
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
    law: 'every organization must be allowed, not only one of them',
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
    message: /^allow has no organizationalUnits expression, and the request contains "x"$/,
  },
  {
    law: 'a field that allow does not name must be empty: DNS names',
    requests: OWN_NAME,
    wanted: { dnsNames: ['kubernetes.default.svc'] },
    outcome: 'noOpinion',
    message:
      /^allow has no dnsNames expression, and the request contains "kubernetes\.default\.svc"$/,
  },
  {
    law: 'a field that allow does not name must be empty: IP addresses, URIs and emails',
    requests: OWN_NAME,
    wanted: { ipAddresses: [[10, 0, 0, 1]], uris: ['spiffe://a/b'], emails: ['a@b.example'] },
    outcome: 'noOpinion',
    message:
      /no ipAddresses expression.*"10\.0\.0\.1"; .*no uris expression.*"spiffe:\/\/a\/b"; .*no emails expression.*"a@b\.example"$/,
  },
  {
    law: 'a field that allow does not name must be empty: a common name beside an allowed host',
    requests: ONE_HOST,
    wanted: { dnsNames: ['a.example.com'], usages: ['server auth'] },
    outcome: 'noOpinion',
    message: /^allow has no commonName expression, and the request contains "jane"$/,
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
    message: /^the request contains "subject attribute C \(2\.5\.4\.6\)", which no rule can allow$/,
  },
  {
    law: 'no rule can allow a SAN of a kind that no field names',
    requests: OWN_NAME,
    wanted: { otherNames: [tlv(0x88, [0x2a, 0x03])] },
    outcome: 'noOpinion',
    message:
      /^the request contains "1 subject alternative names? of other kinds", which no rule can allow$/,
  },
  {
    law: 'a usage that only the profile has is not allowed',
    requests: OWN_NAME,
    wanted: { usages: ['digital signature', 'client auth', 'server auth'] },
    outcome: 'noOpinion',
    message:
      /^allow\.usages does not allow "server auth" \(allowed: digital signature, client auth\): remove them from spec\.usages, or add them to the rule$/,
  },
  {
    law: 'a usage that the rule has and the profile has not is not allowed',
    requests: {
      ...OWN_NAME,
      rules: [{ name: 'r', when: 'true', allow: { commonName: 'true', usages: ['code signing'] } }],
    },
    wanted: { usages: ['code signing'] },
    outcome: 'noOpinion',
    message:
      /^allow\.usages does not allow "code signing" \(allowed: none\): remove them from spec\.usages, or add them to the rule$/,
  },
  {
    law: 'a rule without usages allows none',
    requests: { ...OWN_NAME, rules: [{ name: 'r', when: 'true', allow: { commonName: 'true' } }] },
    wanted: {},
    outcome: 'noOpinion',
    message:
      /^allow\.usages does not allow "digital signature", "client auth" \(allowed: none\): remove them from spec\.usages, or add them to the rule$/,
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
    law: 'every value of a field must be allowed, not only the first',
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
    law: 'a when that compares names distinguishes upper and lower case',
    requests: OWN_NAME,
    wanted: { subject: [[CN, 'Jane']] },
    outcome: 'noOpinion',
    message: /^does not apply: when is false$/,
  },
  {
    law: 'a name that is not in canonical form gets no opinion',
    requests: ONE_HOST,
    wanted: { subject: [], dnsNames: ['A.example.com'], usages: ['server auth'] },
    outcome: 'noOpinion',
    message: /"A\.example\.com" is not in canonical form; write "a\.example\.com"/,
  },
  {
    law: 'a common name with a leading space gets no opinion',
    requests: { ...OWN_NAME, rules: [{ name: 'r', when: 'true', allow: { commonName: 'true' } }] },
    wanted: { subject: [[CN, ' jane']] },
    outcome: 'noOpinion',
    message: /the subject has " jane"/,
  },
  {
    law: 'a request without a lifetime counts as one for the longest that the profile allows',
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
