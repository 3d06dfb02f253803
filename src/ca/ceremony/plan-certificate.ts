// SPDX-License-Identifier: Apache-2.0
/** The certificates of a ceremony, before a key signs them. */
import { formatTime } from '#api/object/time.ts';
import { sameBytes } from '#base/bytes.ts';
import { SignerError, usageError } from '#base/errors.ts';
import type { Random } from '#base/ports.ts';
import { encodeCaTbs } from '../issuance/ca-tbs.ts';
import { prepareCa, type PreparedCertificate } from '../issuance/prepare.ts';
import type { SigningCa } from '../issuance/signing-ca.ts';
import { OID_ANY_EXTENDED_KEY_USAGE } from '#pki/der/oids.ts';
import { isInSubtree, type NameConstraint } from '#pki/names/constraint-match.ts';
import { encodeName } from '#pki/names/distinguished-name.ts';
import { checkKey } from '#pki/keys/weak-keys.ts';
import { isSelfIssued, type Certificate } from '#pki/x509/certificate.ts';
import { isSelfSigned } from '#pki/x509/issuers.ts';
import type { CertificationRequest } from '#pki/x509/pkcs10.ts';
import type { CeremonyFile, PlannedFields, Subtrees } from './ceremony-file.ts';
import { issuingCa, selfIssuer, type RootKey } from './issuing-ca.ts';

const HOUR_MS = 3_600_000;

/** The limit of `--count`: more certificates than a person reads. */
export const MAX_COUNT = 50;

/** The place of a certificate among the outputs. */
export interface CertificateSlot {
  /** The section of the file, such as `intermediate 2`. */
  readonly name: string;
  /** The file of the certificate. */
  readonly certificate: string;
  /** The file of the key that the ceremony makes, if it makes one. */
  readonly keyFile: string | undefined;
}

/** A certificate that is linted and not signed. */
export interface CertificatePlan extends CertificateSlot {
  /** DER TBSCertificate: the bytes that the key signs. */
  readonly tbs: Uint8Array;
  /** The same bytes, for one signature by `issuer`. */
  readonly prepared: PreparedCertificate;
  readonly issuer: SigningCa;
  /** The CA that signs. Undefined for a root. */
  readonly parent: Certificate | undefined;
  /** Milliseconds since 1970. */
  readonly notBefore: number;
}

/** Name and key of a certificate. Bytes are DER. */
interface CertifiedSubject {
  readonly subject: Uint8Array;
  readonly spki: Uint8Array;
  readonly keyId?: Uint8Array;
}

/**
 * Plans the root, which signs itself.
 *
 * @throws SignerError USAGE (`fail`) without a section `root`, or LINT_FAILED (`wait`)
 */
export function planRoot(file: CeremonyFile, key: RootKey, random: Random): CertificatePlan {
  const { ca, root } = file;
  if (root === undefined) throw missing('root');
  const subject = nameOf(root.subject);
  const issuer = selfIssuer(key, subject, validityOf(root, 0));
  const slot = { name: 'root', certificate: ca.certificate, keyFile: ca.key.file };
  const certified = { subject, spki: key.spki };
  return plan({ slot, issuer, parent: undefined, certified, fields: root, offset: 0, random });
}

/**
 * Returns the places of intermediates. Of several, the names of files get a number.
 *
 * @throws SignerError USAGE (`fail`) if the section cannot have so many
 */
export function intermediateSlots(file: CeremonyFile, count: number): readonly CertificateSlot[] {
  const section = file.intermediate;
  if (section === undefined) throw missing('intermediate');
  if (count > 1 && section.csr !== undefined) {
    throw usageError('--count: a csr has one key; write intermediate.key to make several');
  }
  if (count > 1 && section.every === undefined) {
    throw usageError('--count: intermediate.every is missing, such as 8760h for one a year');
  }
  return Array.from({ length: count }, (_, index) => ({
    name: count > 1 ? `intermediate ${index + 1}` : 'intermediate',
    certificate: numbered(section.certificate, index, count),
    keyFile: section.key === undefined ? undefined : numbered(section.key.file, index, count),
  }));
}

/**
 * Plans the intermediates, the nth of which begins n times `every` later.
 *
 * @param keys - DER SubjectPublicKeyInfo of the made keys, or the request
 * @throws SignerError USAGE (`fail`), AUTHORITY_INVALID (`authority`), LINT_FAILED (`wait`)
 */
export function planIntermediates(
  file: CeremonyFile,
  parent: Certificate,
  keys: readonly Uint8Array[] | CertificationRequest,
  random: Random,
): readonly CertificatePlan[] {
  const section = file.intermediate;
  if (section === undefined) throw missing('intermediate');
  const all = 'raw' in keys ? [requestedBy(keys, section)] : keysWithNames(keys, section);
  const every = Number.parseInt(section.every ?? '0', 10) * HOUR_MS;
  const issuer = issuingCa(parent, 'keyCertSign');
  return intermediateSlots(file, all.length).map((slot, index) => {
    const certified = all[index];
    if (certified === undefined) throw new Error(`${slot.name} has no key`);
    return plan({
      slot,
      issuer,
      parent,
      certified,
      fields: section,
      offset: index * every,
      random,
    });
  });
}

type IntermediateSection = NonNullable<CeremonyFile['intermediate']>;

/** Takes nothing from a request but its key and, without a subject in the file, its name. */
function requestedBy(
  request: CertificationRequest,
  section: IntermediateSection,
): CertifiedSubject {
  checkKey(request.publicKey);
  const { subject } = section;
  return {
    subject: subject === undefined ? request.subject.raw : nameOf(subject),
    spki: request.publicKey.spki,
  };
}

/** Several CAs get names of their own, because verifiers select issuers by name. */
function keysWithNames(
  keys: readonly Uint8Array[],
  { subject }: IntermediateSection,
): readonly CertifiedSubject[] {
  if (subject === undefined) throw usageError('intermediate.subject is missing');
  return keys.map((spki, index) => {
    const commonName = keys.length > 1 ? `${subject.commonName} ${index + 1}` : subject.commonName;
    return { subject: nameOf({ ...subject, commonName }), spki };
  });
}

/**
 * Plans the certificate of another CA's name and key.
 *
 * @param of - the certificate of the other CA
 * @throws SignerError USAGE (`fail`), AUTHORITY_INVALID (`authority`), LINT_FAILED (`wait`)
 */
export function planCross(
  file: CeremonyFile,
  parent: Certificate,
  of: Certificate,
  random: Random,
): CertificatePlan {
  const section = file.cross;
  if (section === undefined) throw missing('cross');
  requireCrossable(of, section);
  const certified = {
    subject: of.subject.raw,
    spki: of.publicKey.spki,
    // Certificates below the other CA refer to it by the identifier that it chose.
    ...(of.subjectKeyIdentifier === undefined ? {} : { keyId: of.subjectKeyIdentifier }),
  };
  const slot = { name: 'cross', certificate: section.certificate, keyFile: undefined };
  const issuer = issuingCa(parent, 'keyCertSign');
  return plan({ slot, issuer, parent, certified, fields: section, offset: 0, random });
}

/** Throws if the certificate would allow more than the other CA's own. */
function requireCrossable(of: Certificate, section: NonNullable<CeremonyFile['cross']>): void {
  const { pathLen, notAfter } = of;
  checkKey(of.publicKey);
  const fault = !of.isCa
    ? 'is not a CA'
    : isSelfIssued(of) && !isSelfSigned(of)
      ? 'has a signature that its own key does not verify'
      : pathLen !== undefined && section.pathLength > pathLen
        ? `has path length ${pathLen}; cross.pathLength is ${section.pathLength}`
        : Date.parse(section.notAfter) > notAfter
          ? `ends at ${formatTime(notAfter)}, before cross.notAfter`
          : limitFault(of, section);
  if (fault !== undefined) throw usageError(`cross.of: ${section.of} ${fault}`);
}

/** Returns the limit of the other CA's leaves that the cross-certificate would lack. */
function limitFault(
  of: Certificate,
  section: NonNullable<CeremonyFile['cross']>,
): string | undefined {
  const { extKeyUsage } = of;
  if (extKeyUsage !== undefined && !extKeyUsage.includes(OID_ANY_EXTENDED_KEY_USAGE)) {
    return 'has an extendedKeyUsage, which a cross-certificate cannot repeat';
  }
  if (!allowsMoreNames(of, section)) return undefined;
  return 'has name constraints, which cross.nameConstraints must repeat or narrow (dns and uris only)';
}

/**
 * Reports whether the cross-certificate would allow names that the other CA's own does not. A kind
 * of names without a permitted subtree is unlimited (RFC 5280 §4.2.1.10).
 */
function allowsMoreNames(
  { nameConstraints }: Certificate,
  { nameConstraints: planned = {} }: NonNullable<CeremonyFile['cross']>,
): boolean {
  if (nameConstraints === undefined) return false;
  const [permitted, excluded] = [
    constraintsOf(planned, 'permitted'),
    constraintsOf(planned, 'excluded'),
  ];
  const limits = nameConstraints.permitted;
  const isLimited = new Set(limits.map(({ kind }) => kind));
  const repeats =
    [...isLimited].every((kind) => permitted.some((each) => each.kind === kind)) &&
    permitted
      .filter(({ kind }) => isLimited.has(kind))
      .every((each) => limits.some((limit) => isInSubtree(each, limit))) &&
    nameConstraints.excluded.every((each) => excluded.some((wider) => isInSubtree(each, wider)));
  return nameConstraints.hasOther || !repeats;
}

interface PlanInput {
  readonly slot: CertificateSlot;
  readonly issuer: SigningCa;
  readonly parent: Certificate | undefined;
  readonly certified: CertifiedSubject;
  readonly fields: PlannedFields & { readonly crlUrls?: readonly string[] | undefined };
  /** Milliseconds to add to the begin and the end in the file. */
  readonly offset: number;
  readonly random: Random;
}

function plan({
  slot,
  issuer,
  parent,
  certified,
  fields,
  offset,
  random,
}: PlanInput): CertificatePlan {
  const validity = validityOf(fields, offset);
  requireInside(slot.name, validity, parent);
  requirePathLength(slot.name, fields.pathLength, parent);
  requireOther(slot.name, certified, parent);
  const { nameConstraints: constraints, crlUrls } = fields;
  const tbs = encodeCaTbs({
    issuer,
    ...certified,
    notBefore: validity.notBefore,
    notAfter: validity.notAfter,
    pathLen: fields.pathLength,
    ...(constraints === undefined
      ? {}
      : {
          constraints: {
            permitted: constraintsOf(constraints, 'permitted'),
            excluded: constraintsOf(constraints, 'excluded'),
          },
        }),
    ...(crlUrls === undefined ? {} : { crlUrls }),
    random,
  });
  const prepared = prepareCa(tbs, issuer);
  const { notBefore } = validity;
  if (parent !== undefined) {
    prepared.requirePath({ certificate: parent, intermediates: [], anchors: [parent] }, notBefore);
  }
  return { ...slot, tbs, prepared, issuer, parent, notBefore };
}

function constraintsOf(
  { dns, uris }: { readonly dns?: Subtrees | undefined; readonly uris?: Subtrees | undefined },
  list: keyof Subtrees,
): readonly NameConstraint[] {
  return [
    ...(dns?.[list] ?? []).map((text) => ({ kind: 'dns' as const, text })),
    ...(uris?.[list] ?? []).map((text) => ({ kind: 'uri' as const, text })),
  ];
}

function requireInside(
  name: string,
  { notBefore, notAfter }: ReturnType<typeof validityOf>,
  parent: Certificate | undefined,
): void {
  if (parent === undefined) return;
  if (notBefore < parent.notBefore) {
    const message = `${name}: it begins at ${formatTime(notBefore)}, before its CA (${formatTime(parent.notBefore)})`;
    throw usageError(message);
  }
  if (notAfter <= parent.notAfter) return;
  const message = `${name}: it ends at ${formatTime(notAfter)}, after its CA (${formatTime(parent.notAfter)}); choose a shorter period or a smaller --count`;
  throw usageError(message);
}

/** RFC 5280 §4.2.1.9: each CA below takes one of the path length. */
function requirePathLength(name: string, wanted: number, parent: Certificate | undefined): void {
  const most = (parent?.pathLen ?? Infinity) - 1;
  if (wanted <= most) return;
  const message =
    most < 0
      ? `${name}: its CA has path length 0, and certifies leaves only`
      : `${name}: pathLength is ${wanted}, and its CA with path length ${most + 1} allows at most ${most}`;
  throw new SignerError({ code: 'AUTHORITY_INVALID', disposition: 'authority', message });
}

/**
 * Throws for the name or the key of the CA that signs: verifiers would take one certificate for the
 * other, and the key of the root would be where that of the intermediate is.
 */
function requireOther(
  name: string,
  { subject, spki }: CertifiedSubject,
  parent: Certificate | undefined,
): void {
  const same = sameBytes(spki, parent?.publicKey.spki)
    ? 'key'
    : sameBytes(subject, parent?.subject.raw)
      ? 'name'
      : undefined;
  if (same !== undefined) throw usageError(`${name}: it has the ${same} of the CA that signs it`);
}

function validityOf(
  { notBefore, notAfter }: PlannedFields,
  offset: number,
): { readonly notBefore: number; readonly notAfter: number } {
  return { notBefore: Date.parse(notBefore) + offset, notAfter: Date.parse(notAfter) + offset };
}

function nameOf(subject: NonNullable<CeremonyFile['root']>['subject']): Uint8Array {
  const { commonName, organizations = [], organizationalUnits = [] } = subject;
  return encodeName({ commonName, organizations, organizationalUnits });
}

function numbered(path: string, index: number, count: number): string {
  return count > 1 ? path.replace(/(\.[^./]*)?$/, `-${index + 1}$1`) : path;
}

function missing(section: string): SignerError {
  return usageError(`the file of the ceremony has no section ${section}`);
}
