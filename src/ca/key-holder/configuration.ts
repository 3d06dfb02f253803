// SPDX-License-Identifier: Apache-2.0
/** The configuration of a key holder: its keys, its sockets, and what each socket may sign. */
import * as z from 'zod';
import { parseDuration } from '#api/object/duration.ts';
import { isWithin, parseNetwork } from '#base/egress/networks.ts';
import { SignerError, attempt, usageError } from '#base/errors.ts';
import { requireNoFaults } from '#base/file-faults.ts';
import { parseIp } from '#base/ip.ts';
import { KEY_TYPES, LEAF_USAGES, type KeyType } from '#base/vocabulary.ts';
import { compileValuePattern } from '#cel/pattern/value-pattern.ts';
import { crlDistributionPoints } from '#pki/extensions/encode-extensions.ts';
import { usageBits, type UsageBits } from '#pki/extensions/usages.ts';
import { HOLDER_API_VERSION, HOLDER_KIND, KEY_NAME } from './protocol.ts';

const MAX_HELD_KEYS = 64;
const MAX_SOCKETS = 16;
const MAX_PATTERNS = 32;
/** Patterns of names are as long as those of a ClusterSigner. */
const MAX_NAME_PATTERN = 512;
/** `sun_path` of Linux has 108 bytes with its final zero (unix(7)). */
const MAX_SOCKET_PATH = 107;

const path = z
  .string()
  .max(1024)
  .regex(/^\/[^\p{C}\p{Zl}\p{Zp}]*$/u, 'must be an absolute path without control characters');

const keyName = z
  .string()
  .regex(KEY_NAME, 'must have lower-case letters, digits and hyphens only, such as workload');

/** A Go duration in hours, minutes and seconds. It becomes seconds. */
const seconds = z.string().transform((text, context): number => {
  const parsed = attempt(() => parseDuration(text));
  if (!(parsed instanceof SignerError)) return parsed;
  context.issues.push({ code: 'custom', message: parsed.message, input: text });
  return z.NEVER;
});

const patterns = z.array(z.string().min(1).max(MAX_NAME_PATTERN)).max(MAX_PATTERNS).default([]);

/** Limits of names. A kind without a pattern or network allows none. */
const names = z.strictObject({
  commonNames: patterns,
  organizations: patterns,
  organizationalUnits: patterns,
  dnsNames: patterns,
  uris: patterns,
  emails: patterns,
  /** Networks such as `10.0.0.0/8`. */
  ipAddresses: z.array(z.string().max(64)).max(MAX_PATTERNS).default([]),
});

const leaf = z.strictObject({
  maxDuration: seconds,
  maxBackdate: seconds.prefault('10m'),
  maxPostdate: seconds.prefault('5m'),
  keyTypes: z
    .array(z.enum(KEY_TYPES))
    .min(1)
    .default(['ECDSAP256', 'ECDSAP384', 'ECDSAP521', 'ED25519', 'RSA3072', 'RSA4096']),
  usages: z
    .array(z.enum(LEAF_USAGES))
    .min(1)
    .default(['digital signature', 'client auth', 'server auth']),
  names: names.prefault({}),
  crlUrls: z
    .array(z.string().regex(/^https?:\/\/[!-~]+$/, 'must be an http or https URL'))
    .min(1)
    .max(4)
    .exactOptional(),
});

const crl = z.strictObject({
  maxValidity: seconds,
  maxBackdate: seconds.prefault('10m'),
  maxPostdate: seconds.prefault('5m'),
});

const use = z
  .strictObject({ key: keyName, leaf: leaf.exactOptional(), crl: crl.exactOptional() })
  .refine((value) => value.leaf !== undefined || value.crl !== undefined, 'must have leaf or crl');

/** A private key in a PKCS#11 token. */
const pkcs11 = z
  .strictObject({
    /** Library of the token's vendor. */
    module: path,
    /** Label of the token. PKCS#11 has 32 bytes for it. */
    token: z.string().min(1).max(32),
    pinFile: path,
    /** CKA_LABEL of the key. */
    label: z.string().min(1).max(255).exactOptional(),
    /** CKA_ID of the key, in hexadecimal. */
    id: z
      .string()
      .regex(/^(?:[0-9a-f]{2}){1,64}$/, 'must be lower-case hexadecimal, such as 01a2')
      .exactOptional(),
  })
  .refine((value) => value.label !== undefined || value.id !== undefined, 'must have label or id');

const keyEntry = z
  .strictObject({
    name: keyName,
    /** PKCS#8 in PEM, encrypted if there is a passphrase. */
    file: path.exactOptional(),
    passphraseFile: path.exactOptional(),
    pkcs11: pkcs11.exactOptional(),
    /** PEM whose first certificate is that of the CA. */
    certificate: path,
    signerNames: z.array(z.string().min(1).max(571)).min(1).max(64),
  })
  .refine(
    ({ file, pkcs11: token }) => (file === undefined) !== (token === undefined),
    'must have either file or pkcs11',
  )
  .refine(
    ({ file, passphraseFile }) => passphraseFile === undefined || file !== undefined,
    'passphraseFile is that of file',
  );

const socketEntry = z.strictObject({
  path: path.max(MAX_SOCKET_PATH),
  mode: z.enum(['0600', '0660']).default('0600'),
  uses: z.array(use).min(1).max(MAX_HELD_KEYS),
});

const configuration = z.strictObject({
  apiVersion: z.literal(HOLDER_API_VERSION),
  kind: z.literal(HOLDER_KIND),
  /** Directory of the numbers of the last CRLs. Without it, a restart forgets them. */
  crlNumbers: path.exactOptional(),
  keys: z.array(keyEntry).min(1).max(MAX_HELD_KEYS),
  sockets: z.array(socketEntry).min(1).max(MAX_SOCKETS),
});

type HolderFile = z.infer<typeof configuration>;
/** A key of the file. */
export type HeldKeyEntry = HolderFile['keys'][number];
/** A key in a PKCS#11 token: the token, its PIN, and how to find the key in it. */
export type TokenKeyEntry = z.infer<typeof pkcs11>;
/** Limits of CRLs. Durations are seconds. */
export type CrlLimits = z.infer<typeof crl>;

/** The names that leaves may have, by their kind. */
export type NameLimits = Readonly<Record<keyof z.infer<typeof names>, (name: string) => boolean>>;

/** Limits of leaves. Durations are seconds. */
export interface LeafLimits extends Pick<
  z.infer<typeof leaf>,
  'maxDuration' | 'maxBackdate' | 'maxPostdate'
> {
  readonly keyTypes: ReadonlySet<KeyType>;
  readonly usages: UsageBits;
  readonly names: NameLimits;
  /** The only contents of cRLDistributionPoints. Absent if leaves may have none. */
  readonly distributionPoints: Uint8Array | undefined;
}

/** Limits of what a socket signs with one key. */
export interface KeyUse {
  readonly key: string;
  readonly leaf: LeafLimits | undefined;
  readonly crl: CrlLimits | undefined;
}

/** A socket, which one component has. */
export interface SocketEntry {
  readonly path: string;
  readonly mode: number;
  readonly uses: readonly KeyUse[];
}

/** A checked configuration, with its patterns compiled. */
export interface HolderConfiguration {
  /** Directory of the numbers of the last CRLs. */
  readonly crlNumbers: string | undefined;
  readonly keys: readonly HeldKeyEntry[];
  readonly sockets: readonly SocketEntry[];
}

/**
 * Reads the configuration of a key holder, parsed from YAML. Rejects unknown fields.
 *
 * @param name - of the file, for messages
 * @throws SignerError USAGE (`fail`) with the path of each fault
 */
export function readHolderConfiguration(value: unknown, name: string): HolderConfiguration {
  const read = requireNoFaults(configuration.safeParse(value), name, referenceFaults);
  const { keys, sockets, crlNumbers } = read;
  const compiled = attempt(() => sockets.map(compileSocket));
  if (compiled instanceof SignerError) throw usageError(`${name}: ${compiled.message}`);
  return { keys, sockets: compiled, crlNumbers };
}

/** Returns the faults of names that must be unique, or that must exist. */
function referenceFaults({ keys, sockets }: HolderFile): readonly string[] {
  const known = keys.map((each) => each.name);
  const twice = (list: readonly string[], at: string): readonly string[] =>
    [...new Set(list.filter((each, index) => list.indexOf(each) !== index))].map(
      (each) => `${at}: ${each} occurs twice`,
    );
  return [
    ...twice(known, 'keys'),
    ...twice(
      sockets.map((each) => each.path),
      'sockets',
    ),
    ...sockets.flatMap(({ uses }, index) => [
      ...twice(
        uses.map((each) => each.key),
        `sockets.${index}.uses`,
      ),
      ...uses.flatMap(({ key }, at) =>
        known.includes(key) ? [] : [`sockets.${index}.uses.${at}.key: keys has no ${key}`],
      ),
    ]),
  ];
}

function compileSocket(socket: HolderFile['sockets'][number], index: number): SocketEntry {
  return {
    path: socket.path,
    mode: Number.parseInt(socket.mode, 8),
    uses: socket.uses.map((each, at) => ({
      key: each.key,
      leaf: each.leaf && compileLeaf(each.leaf, `sockets.${index}.uses.${at}.leaf`),
      crl: each.crl,
    })),
  };
}

function compileLeaf(limits: z.infer<typeof leaf>, where: string): LeafLimits {
  const { maxDuration, maxBackdate, maxPostdate, crlUrls } = limits;
  return {
    maxDuration,
    maxBackdate,
    maxPostdate,
    keyTypes: new Set(limits.keyTypes),
    usages: usageBits(limits.usages),
    names: compileNames(limits.names, `${where}.names`),
    distributionPoints: crlUrls && crlDistributionPoints(crlUrls).value,
  };
}

function compileNames(given: z.infer<typeof names>, where: string): NameLimits {
  const matcher = (kind: keyof z.infer<typeof names>): ((name: string) => boolean) => {
    const tests = given[kind].map((pattern, index) =>
      compileValuePattern(pattern, `${where}.${kind}.${index}`),
    );
    return (name) => tests.some((test) => test(name));
  };
  const networks = given.ipAddresses.map(parseNetwork);
  return {
    commonNames: matcher('commonNames'),
    organizations: matcher('organizations'),
    organizationalUnits: matcher('organizationalUnits'),
    dnsNames: matcher('dnsNames'),
    uris: matcher('uris'),
    emails: matcher('emails'),
    ipAddresses: (name) => {
      const address = parseIp(name);
      return address !== undefined && networks.some((each) => isWithin(address, each));
    },
  };
}
