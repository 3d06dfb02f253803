// SPDX-License-Identifier: Apache-2.0
/** The value `components.<component>.keyHolder`. `check-key-holder.ts` has its checks. */
import * as z from 'zod';
import { MAX_SIGNER_NAME } from '#api/signer/signer-name.ts';
import { KEY_TYPES, LEAF_USAGES } from '#base/vocabulary.ts';

/** A Go duration in hours, minutes and seconds. */
const duration = z
  .string()
  .min(2)
  .regex(/^(?:[0-9]{1,10}h)?(?:[0-9]{1,10}m)?(?:[0-9]{1,10}s)?$/);
/**
 * An RE2 pattern of whole names. It becomes an argument within JSON, so it has no character that
 * JSON, Go or the kubelet would change: write `[.]` for a dot.
 */
const pattern = z
  .string()
  .max(512)
  .regex(/^[!#%'-;=?-[\]-~]+$/);
const patterns = (of: string): z.ZodExactOptional<z.ZodArray<typeof pattern>> =>
  z.array(pattern).max(32).exactOptional().describe(of);

const names = z.strictObject({
  commonNames: patterns('Of common names.'),
  organizations: patterns('Of organizations.'),
  organizationalUnits: patterns('Of organizational units.'),
  dnsNames: patterns('Of DNS names.'),
  uris: patterns('Of URIs: `spiffe://cluster[.]local/ns/team-[a-z]+/sa/[a-z-]+`.'),
  emails: patterns('Of email addresses.'),
  ipAddresses: z
    .array(
      z
        .string()
        .max(64)
        .regex(/^[0-9A-Fa-f.:]+\/[0-9]{1,3}$/),
    )
    .max(32)
    .exactOptional()
    .describe('Networks of IP addresses: `10.0.0.0/8`.'),
});

const leaf = z.strictObject({
  maxDuration: duration.describe('Longest validity of a leaf: `24h`.'),
  maxBackdate: duration
    .exactOptional()
    .describe('How far notBefore may be in the past. Default: `10m`.'),
  maxPostdate: duration
    .exactOptional()
    .describe('How far notBefore may be in the future. Default: `5m`.'),
  keyTypes: z
    .array(z.enum(KEY_TYPES))
    .min(1)
    .exactOptional()
    .describe('Key types of leaves. Default: all but `RSA2048` and the experimental ones.'),
  usages: z
    .array(z.enum(LEAF_USAGES))
    .min(1)
    .exactOptional()
    .describe('Usages of leaves. Default: digital signature, client auth and server auth.'),
  names: names
    .exactOptional()
    .describe('RE2 patterns of whole names. A kind of names without one allows none.'),
  crlUrls: z
    .array(z.string().regex(/^https?:\/\/[!#%'-;=?-[\]-~]+$/))
    .min(1)
    .max(4)
    .exactOptional()
    .describe('CRL distribution points of leaves: all of them, in this order, or none.'),
});

/** A text without the characters that `pattern` excludes. */
const label = z.string().regex(/^[!#%'-;=?-[\]-~]+(?: [!#%'-;=?-[\]-~]+)*$/);

/** A private key in a PKCS#11 token. */
const token = z.strictObject({
  token: label.max(32).describe('Label of the token.'),
  label: label.max(255).describe('CKA_LABEL of the private key.'),
  id: z
    .string()
    .regex(/^(?:[0-9a-f]{2}){1,64}$/)
    .exactOptional()
    .describe('CKA_ID of the private key in hexadecimal, if several keys have the label.'),
});

/** The module of the tokens. */
const pkcs11 = z.strictObject({
  image: z
    .string()
    .max(512)
    .regex(/^[a-z0-9][A-Za-z0-9._:/@-]*$/)
    .describe('Image of the sidecar: the variant for PKCS#11, with the module of the vendor.'),
  module: z
    .string()
    .max(255)
    .regex(/^\/[A-Za-z0-9._/+-]+$/)
    .describe('Path of the module in this image.'),
  env: z
    .array(
      z.strictObject({
        name: z
          .string()
          .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/)
          .describe('Name of a variable.'),
        value: label.max(1024).describe('Value of the variable.'),
      }),
    )
    .max(32)
    .exactOptional()
    .describe(
      'Environment variables of the sidecar that the module needs, such as `SOFTHSM2_CONF`.',
    ),
  files: z
    .string()
    .max(253)
    .regex(/^[a-z0-9./-]*$/)
    .exactOptional()
    .describe(
      'Secret in the namespace of the components with files of the module, mounted at `/run/countersign/module`.',
    ),
});

const key = z.strictObject({
  name: z
    .string()
    .regex(/^[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?$/)
    .describe('Name of the key, as in `spec.authority.keyHolder.key` of the ClusterSigner.'),
  secret: z
    .string()
    .max(253)
    .regex(/^[a-z0-9./-]*$/)
    .describe(
      'Secret in the namespace of the components, which you make: `ca.key` (PKCS#8 in PEM), `ca.crt` (PEM), and `passphrase` of an encrypted key. With `pkcs11`: `ca.crt` and `pin`.',
    ),
  encrypted: z
    .boolean()
    .exactOptional()
    .describe('Whether the key is encrypted, by `passphrase` of the Secret. Default: `false`.'),
  pkcs11: token
    .exactOptional()
    .describe('Place of a private key in a PKCS#11 token, instead of the Secret.'),
  signerNames: z
    .array(
      z
        .string()
        .max(MAX_SIGNER_NAME)
        .regex(/^[a-z0-9./-]*$/),
    )
    .min(1)
    .max(64)
    .describe('Signer names that may use the key: the consent of its owner.'),
  leaf: leaf.describe('Limits of what is signed with the key.'),
});

const quantities = z.record(z.string(), z.union([z.string(), z.number()]));

/** Value `keyHolder` of a component. */
export const keyHolder = z
  .strictObject({
    pkcs11: pkcs11
      .exactOptional()
      .describe('Module for keys in PKCS#11 tokens: docs/how-to/pkcs11.md.'),
    keys: z.array(key).min(1).max(16).describe('Keys, and the limits of each.'),
    resources: z
      .strictObject({ requests: quantities.exactOptional(), limits: quantities.exactOptional() })
      .exactOptional()
      .describe('CPU and memory of the sidecar. With `pkcs11`, the default is higher.'),
  })
  .describe(
    'Keys of CAs in a sidecar, which signs within these limits. The component cannot read them: docs/how-to/key-holder.md.',
  );

/** Value `keyHolder` of a component. */
export type KeyHolderValues = z.infer<typeof keyHolder>;
