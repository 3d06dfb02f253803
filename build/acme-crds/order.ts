// SPDX-License-Identifier: Apache-2.0
import { REVOCATION_CODES } from '#api/acme/names.ts';
import { flag, instant, integer, list, object, objectName, oneOf, text } from './schema.ts';
import type { Kind, Rule, Schema } from './schema.ts';

/** Users change the request for a certificate. Controllers then replace Order and Challenge. */
const IMMUTABLE: Rule = {
  rule: 'self == oldSelf',
  message: 'is immutable; delete the object, and another one is made',
};

/** URL of the ACME server. `src/acme/protocol/resources.ts` has the same bound. */
const url = (description: string): Schema => text(2048, description, { pattern: '^https://' });
const uid = (whose: string): Schema => text(64, `metadata.uid of ${whose}.`);

const SIGNER_REF = object(['kind', 'name'], 'The signer of the certificate.', {
  kind: oneOf(
    ['AcmeClusterSigner', 'AcmeSigner'],
    'Kind of the signer; an AcmeSigner is of the same namespace.',
  ),
  name: objectName('Name of the signer.'),
});

/** Fields of a status about waiting (`waiting` in src/api/acme/fields.ts). */
const WAITING = {
  reason: text(64, 'Reason of the state, for programs.'),
  message: text(4096, 'Reason of the state, for people, with quotes of the server.'),
  nextAttemptAt: instant('Time of the next attempt. Absent if nothing waits.'),
  failures: integer([0, 2_147_483_647], 'Consecutive failed attempts.'),
  finalAt: instant('Time of its end.'),
};

const IDENTIFIER = object(['type', 'value'], 'One name.', {
  type: oneOf(['dns', 'ip'], 'Type of the name.'),
  value: text(
    255,
    'A DNS name of A-labels, with *. for a wildcard, or an address as RFC 5952 writes it.',
  ),
});

/** Fields of both kinds about progress. */
const PROGRESS: Kind['columns'] = [
  {
    name: 'Reason',
    type: 'string',
    jsonPath: '.status.reason',
    description: 'Reason of its wait or end.',
  },
  // The type is not date: kubectl prints dates as ages, and a future one as <invalid>.
  {
    name: 'Next attempt',
    type: 'string',
    jsonPath: '.status.nextAttemptAt',
    description: 'Time of the next attempt.',
  },
];

export const ORDER: Kind = {
  kind: 'Order',
  plural: 'orders',
  scope: 'Namespaced',
  description:
    'An Order is one attempt to get the certificate of one request from an ACME server. Countersign creates and deletes it. Delete it to try again at once.',
  columns: [
    {
      name: 'State',
      type: 'string',
      jsonPath: '.status.state',
      description: 'State at the server.',
    },
    ...PROGRESS,
    { name: 'Signer', type: 'string', jsonPath: '.spec.signerRef.name', priority: 1 },
    { name: 'Request', type: 'string', jsonPath: '.spec.requestRef.name', priority: 1 },
    { name: 'Renewal', type: 'string', jsonPath: '.status.renewal.renewAt', priority: 1 },
  ],
  selectable: ['.spec.signerRef.name', '.spec.requestRef.name'],
  spec: object(
    ['signerRef', 'requestRef', 'request', 'identifiers', 'attempt'],
    'What the request contains. Immutable.',
    {
      signerRef: SIGNER_REF,
      requestRef: object(['kind', 'name', 'uid'], 'The request that the certificate answers.', {
        kind: oneOf(['CertificateSigningRequest', 'CertificateRequest'], 'Kind of the request.'),
        name: objectName('Name of the request; a CertificateRequest is of the same namespace.'),
        uid: uid('the request'),
      }),
      // Omits format: byte, which CEL reads as base64url: self == oldSelf would fail.
      request: text(65_536, 'The PKCS#10 request, as base64 of its DER.', {
        pattern: '^[A-Za-z0-9+/]+={0,2}$',
      }),
      identifiers: list(100, 'Names of the certificate.', IDENTIFIER, { minItems: 1 }),
      attempt: integer([1, 2_147_483_647], 'Number of the attempt for the request.'),
      profile: text(64, 'Profile of the ACME server.'),
      replaces: text(512, 'RFC 9773 id of the certificate that this one renews.', {
        pattern: '^[A-Za-z0-9_-]+\\.[A-Za-z0-9_-]+$',
      }),
      renewal: flag(
        'Whether a certificate of these names is in use: it goes before new names.',
        false,
      ),
    },
    [IMMUTABLE],
  ),
  status: object([], 'Only the component acme writes it.', {
    state: oneOf(
      ['pending', 'ready', 'processing', 'valid', 'invalid', 'failed'],
      'State at the server (RFC 8555 §7.1.6). failed: the request can never be answered.',
    ),
    ...WAITING,
    url: url('URL of the order at the server.'),
    accountURL: url('URL of the account that created the order.'),
    replacesRefused: flag('Whether the server rejected the reference to the replaced certificate.'),
    authorizations: list(
      100,
      'Names that the server requires proof of.',
      object(['url', 'name'], 'One name to prove.', {
        url: url('URL of the authorization.'),
        name: text(253, 'The name, without *. for a wildcard.'),
        wildcard: flag('Whether it is for a wildcard.'),
        wasValid: flag('Whether it was proved before this Order: it needs no Challenge.'),
        offered: list(
          32,
          'Challenges that the server offers.',
          object(['type', 'url'], 'One challenge.', {
            type: text(64, 'Its type.'),
            url: url('Its URL.'),
            token: text(255, 'Its token.', { pattern: '^[A-Za-z0-9_-]+$' }),
          }),
        ),
      }),
    ),
    certificate: text(262_144, 'The certificate and its chain, PEM.'),
    renewal: object([], 'Renewal of the certificate (RFC 9773).', {
      windowStart: instant('Start of the window that the server suggests.'),
      windowEnd: instant('End of the window that the server suggests.'),
      explanationURL: text(2048, 'URL of an explanation of the window.'),
      renewAt: instant('Time to renew this certificate.'),
      checkAt: instant('Time of the next query to the server.'),
      reason: text(64, 'Reason of the time, or result of the renewal, for programs.'),
      message: text(4096, 'The same, for people, with quotes of the server.'),
      markedAt: instant('Time when acme marked its Certificate for renewal.'),
    }),
    revocation: object(
      ['state'],
      'Progress of the revocation that the annotation acme.countersign.dev/revoke requests.',
      {
        asked: oneOf(
          Object.keys(REVOCATION_CODES),
          'Revocation reason (RFC 5280 §5.3.1). Absent if the annotation has no such reason.',
        ),
        state: oneOf(
          ['pending', 'revoked', 'refused'],
          'revoked: the CA says so. refused: only another reason is tried.',
        ),
        ...WAITING,
      },
    ),
  }),
};

export const CHALLENGE: Kind = {
  kind: 'Challenge',
  plural: 'challenges',
  scope: 'Namespaced',
  description:
    'A Challenge proves one name of an Order to an ACME server. Countersign creates and deletes it.',
  columns: [
    {
      name: 'State',
      type: 'string',
      jsonPath: '.status.state',
      description: 'State at the server.',
    },
    { name: 'Name', type: 'string', jsonPath: '.spec.dnsName', description: 'The name to prove.' },
    { name: 'Type', type: 'string', jsonPath: '.spec.type', description: 'Type of the challenge.' },
    ...PROGRESS,
    { name: 'Processing', type: 'boolean', jsonPath: '.status.processing', priority: 1 },
    { name: 'Presented', type: 'boolean', jsonPath: '.status.presented', priority: 1 },
  ],
  selectable: ['.spec.orderRef.name', '.spec.type'],
  spec: object(
    ['signerRef', 'orderRef', 'authorizationURL', 'url', 'type', 'dnsName', 'solver'],
    'What to prove. Immutable.',
    {
      signerRef: SIGNER_REF,
      orderRef: object(['name', 'uid'], 'The Order, of the same namespace.', {
        name: objectName('Name of the Order.'),
        uid: uid('the Order'),
      }),
      authorizationURL: url('URL of the authorization.'),
      url: url('URL of the challenge.'),
      type: oneOf(['http-01', 'dns-01', 'dns-persist-01'], 'Type of the challenge.'),
      // RFC 8555 §8: base64url. It becomes a path of the responder.
      token: text(255, 'Token of the challenge.', { pattern: '^[A-Za-z0-9_-]+$' }),
      key: text(1024, 'Key authorization (http-01), or value of the TXT record (dns-01).', {
        pattern: '^[A-Za-z0-9_.-]+$',
      }),
      dnsName: text(253, 'The name or address to prove, without *. for a wildcard.'),
      wildcard: flag('Whether the authorization is for a wildcard.', false),
      solver: text(63, 'Name of the solver in the signer.'),
    },
    [
      IMMUTABLE,
      {
        rule: "self.type == 'dns-persist-01' || (has(self.token) && has(self.key))",
        message: 'must have token and key, unless type is dns-persist-01',
      },
      {
        rule: "!self.wildcard || self.type != 'http-01'",
        message: 'must not prove a wildcard by http-01',
      },
    ],
  ),
  status: object([], 'The component acme writes it, except solver.', {
    state: oneOf(
      ['pending', 'processing', 'valid', 'invalid', 'expired', 'revoked', 'deactivated'],
      'State at the server.',
    ),
    processing: flag('Whether it holds a slot. Slots limit how many Challenges run at once.'),
    presented: flag('Whether the record or file exists.'),
    presentedAt: instant('Time since it exists.'),
    ...WAITING,
    solver: object([], 'Only the component acme-solver writes it.', {
      presented: flag('Whether the record exists.'),
      reason: text(64, 'Reason why it does not exist, or cannot be removed, for programs.'),
      message: text(4096, 'The same, for people.'),
      changedAt: instant('Time of the last change by the solver.'),
      at: text(1024, 'Its place: the name of the record after CNAMEs, or the route.'),
      nextAttemptAt: instant('Time of the next attempt of the solver. Absent if it succeeded.'),
    }),
  }),
};
