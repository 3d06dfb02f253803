// SPDX-License-Identifier: Apache-2.0
import { conditions, flag, integer, list, object, objectName, text } from './schema.ts';
import type { Kind, Rule, Schema } from './schema.ts';
import { PLAIN_ROUTES, SOLVER } from './solver.ts';

/** Secrets of an AcmeSigner are those of its own namespace, and it cannot say so. */
function acmeOf(scope: Kind['scope']): Schema {
  const where =
    scope === 'Cluster' ? 'In the namespace of the keys.' : 'In the namespace of the AcmeSigner.';
  const named = (what: string): Schema =>
    object(['name'], `${what} ${where}`, { name: objectName('Name of the Secret.') });
  return object(
    ['server', 'accountKey', 'solvers'],
    'The ACME server, and how names are proved to it.',
    {
      server: text(2048, "URL of the server's directory.", { pattern: '^https://[^@]+$' }),
      caBundle: text(
        65_536,
        'PEM of the only trust anchors of the server; those of the image if omitted.',
        {
          pattern: '^-----BEGIN CERTIFICATE-----',
        },
      ),
      contact: list(
        4,
        'How the CA reaches you, such as mailto:ops@example.com.',
        text(256, 'A URL.'),
      ),
      termsOfServiceAgreed: flag(
        'Whether you agree to the terms of the CA, whose URL the status prints.',
        false,
      ),
      accountKey: object(['secret'], 'The key of the account.', {
        secret: named('Its annotation countersign.dev/signer-name has the signer name.'),
      }),
      externalAccountBinding: object(
        ['keyID', 'secret'],
        'The account that the CA gave you. Used once.',
        {
          keyID: text(1024, 'Its id.'),
          secret: named('The MAC key as base64url in the key "key".'),
        },
      ),
      profile: text(
        64,
        'A profile of the CA. For addresses shortlived is asked for where this is omitted.',
      ),
      preferredChain: text(256, 'Common name of the CA above the chain.'),
      allowedExtensions: list(
        16,
        'OIDs of extensions that the CA adds to its certificates, besides those of public CAs and step-ca. A certificate with any other is not delivered.',
        text(64, 'Such as 1.3.6.1.4.1.311.21.7.', { pattern: '^[0-2](\\.(0|[1-9][0-9]*))+$' }),
      ),
      solvers: list(64, 'The most specific one that fits a name proves it.', SOLVER, {
        ...{ minItems: 1, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] },
      }),
      maxConcurrent: integer([1, 60, 60], 'Challenges at once. All signers together have 60.'),
      renewalInfo: flag(
        'Whether the CA is asked when a certificate is best renewed (RFC 9773).',
        true,
      ),
    },
    scope === 'Cluster' ? [] : [PLAIN_ROUTES],
  );
}

/** What an AcmeClusterSigner has in common with a ClusterSigner: schemas of `clustersigners.yaml`. */
export interface Shared {
  readonly signerName: Schema;
  readonly profile: Schema;
  readonly requests: Schema;
  readonly certificateRequests: Schema;
}

const LONGEST: readonly Rule[] = [
  {
    rule: "duration(self.profile.maxDuration) >= duration('1h')",
    fieldPath: '.profile.maxDuration',
    message: 'must be at least 1h',
  },
  {
    rule: "duration(self.profile.maxDuration) <= duration('9600h')",
    fieldPath: '.profile.maxDuration',
    message: 'must be at most 9600h, 400 days: no public CA issues for longer',
  },
];

/** Two hundred days: what browsers accept since March 2026. A CA decides; what is longer is not delivered. */
const MAX_DURATION = '4800h';

function profileOf({ properties = {}, ...rest }: Schema): Schema {
  const { backdate: _, crl: __, maxDuration, ...kept } = properties;
  const description =
    'Maximum lifetime of a leaf. The CA decides on it; a longer one is not delivered.';
  return {
    ...rest,
    properties: { ...kept, maxDuration: { ...maxDuration, description, default: MAX_DURATION } },
  };
}

function signerNameOf({ 'x-kubernetes-validations': rules, ...rest }: Schema): Schema {
  const own = (rules as readonly Rule[]).map((each) => ({
    ...each,
    message: each.message.replace('another ClusterSigner', 'another AcmeClusterSigner'),
  }));
  return { ...rest, 'x-kubernetes-validations': own };
}

const COLUMNS: Kind['columns'] = [
  { name: 'Ready', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].status' },
  { name: 'Reason', type: 'string', jsonPath: '.status.conditions[?(@.type=="Ready")].reason' },
  { name: 'Account', type: 'string', jsonPath: '.status.account.url', priority: 1 },
];

const STATUS: Readonly<Record<string, Schema>> = {
  observedGeneration: { type: 'integer', format: 'int64', description: 'Of the spec.' },
  conditions: conditions('Ready, and why not; KeyRolledOver once a new account key was asked for.'),
  account: object([], 'The account at the server.', {
    url: text(2048, 'Its URL.'),
    keyThumbprint: text(64, 'RFC 7638 thumbprint of its key.'),
    nextKeyThumbprint: text(
      64,
      'The same of the key that stands beside it, until the account has it.',
    ),
    externalAccountBound: flag('Whether the external account was bound to it.'),
  }),
  termsOfService: text(2048, 'URL of the terms of the CA.'),
  profiles: list(64, 'Profiles that the CA has.', text(64, 'A profile.')),
  persistRecords: list(64, 'Records that dns-persist-01 needs.', text(2048, 'One record.')),
};

/** @param shared - what a ClusterSigner has, too */
export function signerKinds(shared: Shared): readonly Kind[] {
  const { requests, certificateRequests } = shared;
  const signerName = signerNameOf(shared.signerName);
  const profile = profileOf(shared.profile);
  const cluster = object(
    ['signerName', 'acme'],
    'The desired behavior of the signer.',
    { signerName, acme: acmeOf('Cluster'), profile, requests, certificateRequests },
    LONGEST,
  );
  const namespaced = object(
    ['acme'],
    'The desired behavior of the signer.',
    { acme: acmeOf('Namespaced'), profile, requests, certificateRequests },
    LONGEST,
  );
  return [
    {
      kind: 'AcmeClusterSigner',
      plural: 'acmeclustersigners',
      scope: 'Cluster',
      description:
        'An AcmeClusterSigner makes Countersign answer the requests for one signer name with certificates of an ACME server, such as Let’s Encrypt.',
      columns: [{ name: 'Signer', type: 'string', jsonPath: '.spec.signerName' }, ...COLUMNS],
      selectable: ['.spec.signerName'],
      spec: cluster,
      status: object([], 'Written by the component acme alone.', STATUS),
    },
    {
      kind: 'AcmeSigner',
      plural: 'acmesigners',
      scope: 'Namespaced',
      description:
        'An AcmeSigner makes Countersign answer the requests of its own namespace with certificates of an ACME server that the administrator allows.',
      columns: [{ name: 'Signer', type: 'string', jsonPath: '.status.signerName' }, ...COLUMNS],
      spec: namespaced,
      status: object([], 'Written by the component acme alone.', {
        signerName: text(
          571,
          'acmesigners.acme.countersign.dev/<namespace>.<name>. It is derived; you cannot choose it.',
        ),
        ...STATUS,
      }),
    },
  ];
}
