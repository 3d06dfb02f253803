// SPDX-License-Identifier: Apache-2.0
/**
 * The schemas of the specs, with the CRDs' defaults. They reject unknown fields: a component must
 * not silently ignore a restriction that its version does not know.
 */
import * as z from 'zod';
import { CLUSTER_SIGNER_SPEC } from '../signer/cluster-signer-schema.ts';
import { DNS_SUBDOMAIN, durationText, objectName, text } from './fields.ts';

const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;

const bySecret = z.strictObject({ name: objectName });

const selector = z.strictObject({
  dnsNames: z.array(text(255)).max(100).exactOptional(),
  dnsZones: z.array(text(253)).max(100).exactOptional(),
  matchLabels: z
    .record(z.string(), z.string().max(63))
    .refine((labels) => Object.keys(labels).length <= 16, {
      message: 'has more than 16 labels; remove some',
    })
    .exactOptional(),
});

const texts = (most: number) =>
  z
    .record(z.string(), z.string().max(most))
    .refine((given) => Object.keys(given).length <= 16, {
      message: 'has more than 16 entries; remove some',
    })
    .exactOptional();

/** Labels and annotations on a route, which ingress controllers and gateways read. */
const metadata = { labels: texts(63), annotations: texts(1024) };

const ingress = z.strictObject({
  className: objectName.exactOptional(),
  pathType: z.enum(['Exact', 'ImplementationSpecific']).exactOptional(),
  ...metadata,
});

const gateway = z.strictObject({
  name: objectName,
  namespace: text(63).exactOptional(),
  sectionName: text(253).exactOptional(),
  ...metadata,
});

const http01 = z
  .strictObject({
    ingress: ingress.exactOptional(),
    gateway: gateway.exactOptional(),
  })
  .refine((given) => given.ingress === undefined || given.gateway === undefined, {
    message: 'must not have both ingress and gateway; remove one',
  });

const rfc2136 = z.strictObject({
  server: text(262),
  zone: text(253).exactOptional(),
  tsig: z
    .strictObject({
      keyName: text(253),
      algorithm: z.enum(['HMAC-SHA256', 'HMAC-SHA384', 'HMAC-SHA512']),
      secret: bySecret,
    })
    .exactOptional(),
});

/** Members of a solver. Exactly one is set. */
const SOLVER_MEMBERS = ['http01', 'rfc2136', 'acmeDNS', 'webhook', 'persist'] as const;

export const ACME_SOLVER = z
  .strictObject({
    name: text(63).regex(DNS_LABEL),
    selector: selector.exactOptional(),
    selfCheck: z
      .strictObject({
        nameservers: z.array(text(2048)).max(8).exactOptional(),
        waitInstead: durationText.exactOptional(),
      })
      .exactOptional(),
    http01: http01.exactOptional(),
    rfc2136: rfc2136.exactOptional(),
    acmeDNS: z
      .strictObject({ server: text(2048).regex(/^https?:\/\//), secret: bySecret })
      .exactOptional(),
    webhook: z
      .strictObject({
        groupName: text(253).regex(DNS_SUBDOMAIN),
        solverName: text(63),
        config: z.looseObject({}).exactOptional(),
      })
      .exactOptional(),
    persist: z.strictObject({}).exactOptional(),
  })
  .refine((solver) => SOLVER_MEMBERS.filter((name) => solver[name] !== undefined).length === 1, {
    message: `must have exactly one of ${SOLVER_MEMBERS.join(', ')}`,
  });

export const ACME_SETTINGS = z.strictObject({
  server: text(2048).regex(/^https:\/\/[^@]+$/),
  additionalOrigins: z
    .array(
      text(267)
        .regex(/^https:\/\/[^@/?#\s]+$/)
        .refine((origin) => URL.canParse(origin), {
          message: 'is not an origin; write it as https://ca.example.com:8443',
        }),
    )
    .max(8)
    .exactOptional(),
  caBundle: text(65_536)
    .regex(/^-----BEGIN CERTIFICATE-----/)
    .exactOptional(),
  contact: z.array(text(256)).max(4).exactOptional(),
  termsOfServiceAgreed: z.boolean().default(false),
  accountKey: z.strictObject({ secret: bySecret }),
  externalAccountBinding: z.strictObject({ keyID: text(1024), secret: bySecret }).exactOptional(),
  profile: text(64).exactOptional(),
  preferredChain: text(256).exactOptional(),
  allowedExtensions: z
    .array(text(64).regex(/^[0-2](\.(0|[1-9][0-9]*))+$/))
    .max(16)
    .exactOptional(),
  omittedIssuers: text(65_536)
    .regex(/^-----BEGIN CERTIFICATE-----/)
    .exactOptional(),
  solvers: z
    .array(ACME_SOLVER)
    .min(1)
    .max(64)
    .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, {
      message: 'has two entries with the same name; rename one',
    }),
  maxConcurrent: z.int().min(1).max(10_000).default(60),
  renewalInfo: z.boolean().default(true),
});

const { signerName, profile, requests, certificateRequests } = CLUSTER_SIGNER_SPEC.shape;

/**
 * The leaf's profile, without `backdate` and `crl`: the CA decides when a certificate begins, and
 * signs its own CRLs.
 */
const acmeProfile = profile
  .unwrap()
  .omit({ backdate: true, crl: true })
  .extend({ maxDuration: durationText.min(2).default('4800h') })
  .prefault({});

export const ACME_SIGNER_SPEC = z.strictObject({
  acme: ACME_SETTINGS,
  profile: acmeProfile,
  requests,
  certificateRequests,
});

export const ACME_CLUSTER_SIGNER_SPEC = ACME_SIGNER_SPEC.extend({ signerName });
