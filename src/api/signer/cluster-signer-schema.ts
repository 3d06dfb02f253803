// SPDX-License-Identifier: Apache-2.0
/**
 * The schema of `spec`, with the CRD's defaults. It rejects unknown fields: a component must not
 * silently ignore a restriction that its version does not know.
 */
import * as z from 'zod';
import {
  AUTHORITY_KEY_TYPES,
  KEY_TYPES,
  LEAF_USAGES,
  MAX_EXPRESSION,
  MAX_POD_LABELS,
  REQUEST_FIELDS,
  SERVICE_NAME_FORMS,
} from '#base/vocabulary.ts';
import {
  ANCHOR_CHOICES,
  INTERMEDIATE_USAGES,
  URI_CONSTRAINTS,
  type ClusterSignerSpec,
} from './cluster-signer.ts';
import * as limits from './cluster-signer-limits.ts';
import { CERT_MANAGER_GROUP } from '../request/certificate-request.ts';
import { MAX_SIGNER_NAME } from './signer-name.ts';
import { VAULT_NAME, VAULT_PATH, VAULT_SERVER } from './upstream-vault.ts';

/** The kind of an issuer of cert-manager. */
const KIND = /^[A-Z][A-Za-z0-9]*$/;
const DNS_LABEL = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/;
const DNS_SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
/** Keys of userAnnotations have a domain and may contain capitals (ValidateUserAnnotations). */
const ANNOTATION_KEY =
  /^[A-Za-z0-9]([-A-Za-z0-9.]*[A-Za-z0-9])?\/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const LABEL_KEY = /^([a-z0-9]([-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;
const DURATION = /^([0-9]{1,10}h)?([0-9]{1,10}m)?([0-9]{1,10}s)?$/;
/** Text without control characters. */
const VISIBLE = /^\P{Cc}+$/u;
/** X.660: the first arc is 0, 1 or 2, and arcs have no leading zeros. */
const OID = /^[0-2]([.](0|[1-9][0-9]{0,38}))+$/;
/**
 * Visible ASCII without braces, except the placeholder of the CA's fingerprint, which is not in the
 * host.
 */
const CRL_URL = /^https?:\/\/[!-z|~]+\/[!-z|~]*[{]authority[}][!-z|~]*$/;

const objectName = z.string().min(1).max(limits.MAX_OBJECT_NAME).regex(DNS_SUBDOMAIN);
const labelText = z.string().min(1).max(limits.MAX_LABEL).regex(DNS_LABEL);
const duration = z.string().min(2).max(limits.MAX_DURATION_TEXT).regex(DURATION);
const expression = z.string().min(1).max(MAX_EXPRESSION);
const usages = z.array(z.enum(LEAF_USAGES)).min(1).max(LEAF_USAGES.length);

const oids = z
  .array(z.string().min(3).max(limits.MAX_OID_TEXT).regex(OID))
  .min(1)
  .max(limits.MAX_ALLOWED_OIDS);

const secretReference = z.strictObject({ namespace: labelText, name: objectName });

const rootFingerprint = z.string().max(limits.FINGERPRINT_TEXT).regex(limits.FINGERPRINT);

/** Fields of every upstream. */
const upstreamTrust = {
  anchor: z.enum(ANCHOR_CHOICES).default('Root'),
  trustEverythingBelow: z.boolean().default(false),
};

const manualUpstream = z
  .strictObject({
    chain: z.string().min(1).max(limits.MAX_UPSTREAM_CHAIN).exactOptional(),
    rootFingerprint: rootFingerprint.exactOptional(),
    ...upstreamTrust,
  })
  .refine(
    ({ chain, rootFingerprint }) => (chain === undefined) === (rootFingerprint === undefined),
    {
      message:
        'must have chain and rootFingerprint together; countersign authority install sets both',
    },
  );

const certManagerUpstream = z.strictObject({
  namespace: labelText,
  issuerRef: z.strictObject({
    name: objectName,
    kind: z.string().min(1).max(limits.MAX_LABEL).regex(KIND).default('Issuer'),
    group: objectName.default(CERT_MANAGER_GROUP),
  }),
  rootFingerprint,
  ...upstreamTrust,
});

const csrUpstream = z.strictObject({
  signerName: z.string().min(1).max(MAX_SIGNER_NAME),
  cluster: labelText,
  bundle: objectName,
  rootFingerprint,
  ...upstreamTrust,
});

export const vaultPath = z.string().min(1).max(limits.MAX_VAULT_PATH).regex(VAULT_PATH);
export const vaultName = z.string().min(1).max(limits.MAX_VAULT_PATH).regex(VAULT_NAME);

/** Fields of every secrets engine of Vault. */
export const vaultPlace = {
  server: z.string().min(9).max(limits.MAX_VAULT_SERVER).regex(VAULT_SERVER),
  caBundle: z.string().min(1).max(limits.MAX_VAULT_CA_BUNDLE).exactOptional(),
  namespace: vaultPath.exactOptional(),
  mount: vaultPath,
};

const vaultUpstream = z.strictObject({
  ...vaultPlace,
  issuer: vaultName.exactOptional(),
  auth: z.strictObject({ mount: vaultPath.default('kubernetes'), role: vaultName }),
  rootFingerprint,
  ...upstreamTrust,
});

const upstream = z
  .strictObject({
    manual: manualUpstream.exactOptional(),
    certManager: certManagerUpstream.exactOptional(),
    csr: csrUpstream.exactOptional(),
    vault: vaultUpstream.exactOptional(),
  })
  .refine((members) => Object.keys(members).length === 1, {
    message: 'must have exactly one member; set manual, certManager, csr or vault',
  });

const managedAuthority = z.strictObject({
  secret: secretReference,
  keyType: z.enum(AUTHORITY_KEY_TYPES).default('ECDSAP256'),
  commonName: z.string().min(1).max(limits.MAX_CA_COMMON_NAME).regex(VISIBLE),
  duration: duration.default('8760h'),
  renewBefore: duration.exactOptional(),
  maxRetiring: z.int().min(1).max(limits.MAX_RETIRING).default(limits.DEFAULT_MAX_RETIRING),
  crossSigned: z.boolean().default(false),
  distrusted: z
    .array(z.string().max(limits.FINGERPRINT_TEXT).regex(limits.FINGERPRINT))
    .max(limits.MAX_DISTRUSTED)
    .exactOptional(),
  upstream: upstream.exactOptional(),
});

const keyHolder = z.strictObject({
  namespace: labelText,
  key: labelText,
  chain: z.string().min(1).max(limits.MAX_UPSTREAM_CHAIN),
  anchors: z.string().min(1).max(limits.MAX_UPSTREAM_CHAIN).exactOptional(),
});

const authority = z
  .strictObject({
    managed: managedAuthority.exactOptional(),
    secret: secretReference.exactOptional(),
    keyHolder: keyHolder.exactOptional(),
  })
  .refine((members) => Object.keys(members).length === 1, {
    message: 'must have exactly one member; set managed, secret or keyHolder',
  });

const crl = z.strictObject({
  urls: z
    .array(z.string().min(8).max(limits.MAX_CRL_URL).regex(CRL_URL))
    .min(1)
    .max(limits.MAX_CRL_URLS)
    .exactOptional(),
  validity: duration.default('24h'),
});

const profile = z.strictObject({
  keyTypes: z
    .array(z.enum(KEY_TYPES))
    .min(1)
    .max(KEY_TYPES.length)
    .default(['ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519', 'RSA3072', 'RSA4096']),
  usages: usages.default(['digital signature', 'client auth', 'server auth']),
  maxDuration: duration.default('24h'),
  backdate: duration.default('1m'),
  crl: crl.exactOptional(),
});

const nameExpressions = z.array(expression).max(limits.MAX_NAME_EXPRESSIONS).exactOptional();

const annotationKey = z.string().min(1).max(limits.MAX_QUALIFIED_NAME).regex(ANNOTATION_KEY);

const podServices = z
  .strictObject({
    select: z.enum(['All', 'FromAnnotation']).default('All'),
    annotation: annotationKey.exactOptional(),
    forms: z
      .array(z.enum(SERVICE_NAME_FORMS))
      .min(1)
      .max(SERVICE_NAME_FORMS.length)
      .refine(areUnique, { message: 'has a form twice; list each once' })
      .default(['ServiceNamespaceSvc', 'FullyQualified']),
    clusterDomain: z
      .string()
      .min(1)
      .max(limits.MAX_CLUSTER_DOMAIN)
      .regex(DNS_SUBDOMAIN)
      .default('cluster.local'),
    required: z.boolean().default(true),
  })
  .refine(
    ({ select, annotation }) => (select === 'FromAnnotation') === (annotation !== undefined),
    {
      message: 'must have annotation exactly where select is FromAnnotation',
    },
  );

const pods = z.strictObject({
  allow: expression,
  uris: nameExpressions,
  dnsNames: nameExpressions,
  commonName: expression.exactOptional(),
  annotations: z
    .array(
      z.strictObject({
        key: annotationKey,
        pattern: z.string().min(1).max(limits.MAX_PATTERN),
      }),
    )
    .max(limits.MAX_ANNOTATION_RULES)
    .refine((rules) => areUnique(rules.map(({ key }) => key)), {
      message: 'has two entries with the same key; keep one pattern for each key',
    })
    .exactOptional(),
  services: podServices.exactOptional(),
  labels: z
    .array(z.string().min(1).max(limits.MAX_QUALIFIED_NAME).regex(LABEL_KEY))
    .max(MAX_POD_LABELS)
    .refine(areUnique, { message: 'has a key twice; list each once' })
    .exactOptional(),
  ipAddresses: z.array(expression).max(limits.MAX_ADDRESS_EXPRESSIONS).exactOptional(),
  refreshAfterPercent: z.int().min(1).max(99).default(50),
});

const allow = z.strictObject({
  commonName: expression.exactOptional(),
  organizations: expression.exactOptional(),
  organizationalUnits: expression.exactOptional(),
  dnsNames: expression.exactOptional(),
  ipAddresses: expression.exactOptional(),
  uris: expression.exactOptional(),
  emails: expression.exactOptional(),
  usages: usages.exactOptional(),
  extensions: oids.exactOptional(),
  attributes: oids.exactOptional(),
});

const rule = z.strictObject({ name: labelText, when: expression, allow });

const denial = z.strictObject({
  name: labelText,
  when: expression,
  message: z.string().min(1).max(limits.MAX_DENY_MESSAGE),
});

const sameNameTwice = { message: 'has two entries with the same name; rename one' };

const rules = z
  .array(rule)
  .max(limits.MAX_RULES)
  .refine((each) => areUnique(each.map(({ name }) => name)), sameNameTwice);

const deny = z
  .array(denial)
  .max(limits.MAX_RULES)
  .refine((each) => areUnique(each.map(({ name }) => name)), sameNameTwice)
  .exactOptional();

const requests = z.strictObject({
  copy: z.array(z.enum(REQUEST_FIELDS)).max(REQUEST_FIELDS.length).exactOptional(),
  rules: rules.exactOptional(),
  deny,
});

/**
 * Requires a rule: cert-manager's own approver approves every request, so the rules decide here.
 */
const certificateRequests = z.strictObject({ rules: rules.min(1), deny });

const intermediateRule = z.strictObject({
  name: labelText,
  when: expression,
  trustDomain: expression,
  uriConstraint: z.enum(URI_CONSTRAINTS),
  dnsConstraints: z.array(expression).min(1).max(limits.MAX_DNS_CONSTRAINTS).exactOptional(),
  usages: z
    .array(z.enum(INTERMEDIATE_USAGES))
    .min(1)
    .max(INTERMEDIATE_USAGES.length)
    .refine((usages) => usages.includes('cert sign'), { message: 'must contain cert sign' }),
});

const intermediates = z.strictObject({
  rules: z
    .array(intermediateRule)
    .min(1)
    .max(limits.MAX_RULES)
    .refine((each) => areUnique(each.map(({ name }) => name)), sameNameTwice),
});

const trustBundle = z.strictObject({
  name: objectName,
  labels: z
    .record(
      z.string().max(limits.MAX_QUALIFIED_NAME).regex(LABEL_KEY),
      z.string().max(limits.MAX_LABEL).regex(LABEL_VALUE),
    )
    .refine((labels) => Object.keys(labels).length <= limits.MAX_BUNDLE_LABELS, {
      message: `has more than ${limits.MAX_BUNDLE_LABELS} labels; remove some`,
    })
    .exactOptional(),
});

export const CLUSTER_SIGNER_SPEC = z.strictObject({
  signerName: z.string().min(1).max(MAX_SIGNER_NAME),
  authority,
  profile: profile.prefault({}),
  pods: pods.exactOptional(),
  requests: requests.exactOptional(),
  certificateRequests: certificateRequests.exactOptional(),
  intermediates: intermediates.exactOptional(),
  trustBundle: trustBundle.exactOptional(),
}) satisfies z.ZodType<ClusterSignerSpec>;

function areUnique(texts: readonly string[]): boolean {
  return new Set(texts).size === texts.length;
}

/** A Secret by its name only: it is always in the namespace of its Signer. */
const secretByName = z.strictObject({ secret: z.strictObject({ name: objectName }) });

export const SIGNER_SPEC = CLUSTER_SIGNER_SPEC.omit({
  signerName: true,
  authority: true,
  intermediates: true,
  trustBundle: true,
}).extend({ authority: secretByName, profile: profile.omit({ crl: true }).prefault({}) });
