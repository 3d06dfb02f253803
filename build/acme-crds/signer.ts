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
    'The ACME server, and how to prove names to it.',
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
        'URLs by which the CA contacts you, such as mailto:ops@example.com.',
        text(256, 'A URL.'),
      ),
      additionalOrigins: list(
        8,
        'Further origins of the URLs that the server returns, for a directory behind an alias. None by default. acme calls them with the same caBundle, and refuses the same addresses. In an AcmeSigner, each must be the origin of a server that the administrator lists.',
        text(267, 'Such as https://ca.example.com:8443.', { pattern: '^https://[^@/?#\\s]+$' }),
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
      profile: text(64, 'A profile of the CA. If omitted, requests for addresses use shortlived.'),
      preferredChain: text(256, 'Common name of the CA above the chain.'),
      allowedExtensions: list(
        16,
        'OIDs of extensions that the CA adds to its certificates, besides those of public CAs and step-ca. acme delivers no certificate with any other.',
        text(64, 'Such as 1.3.6.1.4.1.311.21.7.', { pattern: '^[0-2](\\.(0|[1-9][0-9]*))+$' }),
      ),
      omittedIssuers: text(
        65_536,
        'PEM of the CAs that the ACME server leaves out of its chains. A certificate without issuers is accepted if one of them signed it. Clients must have them.',
        { pattern: '^-----BEGIN CERTIFICATE-----' },
      ),
      solvers: list(64, 'The most specific one that fits a name proves it.', SOLVER, {
        minItems: 1,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
      }),
      maxConcurrent: integer(
        [1, 10_000, 60],
        'Challenges at once. All signers together have those of --max-challenges of acme, 60 by default.',
      ),
      renewalInfo: flag('Whether to query the CA for the best time of a renewal (RFC 9773).', true),
    },
    scope === 'Cluster' ? [] : [PLAIN_ROUTES],
  );
}

/**
 * Schemas of `clustersigners.yaml` that an AcmeClusterSigner shares with a ClusterSigner.
 */
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

/**
 * Two hundred days, the limit of browsers since March 2026. The CA decides the lifetime.
 * Countersign does not deliver a certificate with a longer one.
 */
const MAX_DURATION = '4800h';

const ISSUER = 'this ClusterSigner';
/** A sentence of `usages` about pods, which no ACME signer serves. */
const OF_PODS =
  ' The leaf of a pod gets all of them, the leaf of a CertificateSigningRequest those that it requests. ';

/** Returns a schema whose description has another text in place of one that it must have. */
function replaced(schema: Schema, text: string, other: string): Schema {
  const { description = '' } = schema;
  if (!description.includes(text)) throw new Error(`no "${text}" in: ${description}`);
  return { ...schema, description: description.replace(text, other) };
}

function profileOf({ properties = {}, ...rest }: Schema): Schema {
  const { backdate: _, crl: __, maxDuration, usages = {}, ...kept } = properties;
  const description =
    'Maximum lifetime of a leaf. The CA decides on it; acme does not deliver a longer one.';
  return {
    ...rest,
    properties: {
      ...kept,
      usages: replaced(usages, OF_PODS, ' '),
      maxDuration: { ...maxDuration, description, default: MAX_DURATION },
    },
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
  observedGeneration: {
    type: 'integer',
    format: 'int64',
    description: 'Generation of the spec that the status describes.',
  },
  conditions: conditions(
    'Ready, and why not; KeyRolledOver once you have requested a new account key.',
  ),
  account: object([], 'The account at the server.', {
    url: text(2048, 'Its URL.'),
    keyThumbprint: text(64, 'RFC 7638 thumbprint of its key.'),
    nextKeyThumbprint: text(64, 'RFC 7638 thumbprint of the next key, until the account has it.'),
    externalAccountBound: flag('Whether it is bound to the external account.'),
  }),
  termsOfService: text(2048, 'URL of the terms of the CA.'),
  profiles: list(64, 'Profiles of the CA.', text(64, 'A profile.')),
  persistRecords: list(64, 'Records that dns-persist-01 needs.', text(2048, 'One record.')),
};

/** @param shared - the schemas of a ClusterSigner */
export function signerKinds(shared: Shared): readonly Kind[] {
  const { requests } = shared;
  const signerName = signerNameOf(shared.signerName);
  const profile = profileOf(shared.profile);
  const cluster = object(
    ['signerName', 'acme'],
    'The desired behavior of the signer.',
    {
      signerName,
      acme: acmeOf('Cluster'),
      profile,
      requests,
      certificateRequests: replaced(shared.certificateRequests, ISSUER, 'this AcmeClusterSigner'),
    },
    LONGEST,
  );
  const namespaced = object(
    ['acme'],
    'The desired behavior of the signer.',
    {
      acme: acmeOf('Namespaced'),
      profile,
      requests,
      certificateRequests: replaced(shared.certificateRequests, ISSUER, 'this AcmeSigner'),
    },
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
      status: object([], 'Only the component acme writes it.', STATUS),
    },
    {
      kind: 'AcmeSigner',
      plural: 'acmesigners',
      scope: 'Namespaced',
      description:
        'An AcmeSigner makes Countersign answer the requests of its own namespace with certificates of an ACME server that the administrator allows.',
      columns: [{ name: 'Signer', type: 'string', jsonPath: '.status.signerName' }, ...COLUMNS],
      spec: namespaced,
      status: object([], 'Only the component acme writes it.', {
        signerName: text(
          571,
          'acmesigners.acme.countersign.dev/<namespace>.<name>. It is derived; you cannot choose it.',
        ),
        ...STATUS,
      }),
    },
  ];
}
