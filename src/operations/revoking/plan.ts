// SPDX-License-Identifier: Apache-2.0
/** Plans Revocations of selected certificates. Pure. */
import { createHash } from 'node:crypto';
import { formatTime } from '#api/object/time.ts';
import { REVOCATIONS } from '#api/revocation/names.ts';
import {
  MAX_REVOKED,
  type Revocation,
  type RevocationSpec,
  type RevokedHolder,
} from '#api/revocation/revocation.ts';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { derivedFrom } from '#api/signer/signer.ts';
import { sameBytes } from '#base/bytes.ts';
import { present } from '#base/object-keys.ts';
import { OID_COMMON_NAME } from '#pki/der/oids.ts';
import { fingerprint, isSelfIssued, type Certificate } from '#pki/x509/certificate.ts';
import { isSignedBy } from '#pki/x509/issuers.ts';
import { canonicalSerial, serialText } from '#ca/revocation/serial.ts';
import type { CrlReason } from '#base/vocabulary.ts';
import { shellWord } from '#base/quote.ts';
import { accessNote } from './api-server.ts';
import type { FoundCertificate } from './find-certificates.ts';
import { readIssuers, sortByIssuer, type Issuers } from './issuing-ca.ts';

/** A selection of certificates by exactly one kind of criterion. */
export interface Selection {
  /** Hexadecimal digits, in any case, with colons or without. */
  readonly serial?: readonly string[] | undefined;
  /** `namespace/name` */
  readonly pod?: string | undefined;
  readonly user?: string | undefined;
  /** `sha256:<hex>` of the CA's certificate. */
  readonly ca?: string | undefined;
  readonly san?: string | undefined;
  /** Certificate of a request that a person named. */
  readonly certificate?: FoundCertificate | undefined;
}

export interface PlanInput {
  readonly selection: Selection;
  /** Signer name. Undefined for any signer. */
  readonly signerName: string | undefined;
  readonly reason: CrlReason;
  /** Whether their holders may get new certificates. */
  readonly allowRenewal: boolean;
  /** Allows a Revocation that has no effect until its signer has a CRL. */
  readonly withoutCrl: boolean;
  readonly signers: readonly ClusterSigner[];
  readonly found: readonly FoundCertificate[];
  /** True if an installed ledger was not read. */
  readonly isUnread: boolean;
  /** Number of records at which the search stopped although there are more. */
  readonly cutAt?: number | undefined;
  /** Milliseconds. */
  readonly now: number;
}

/** The Revocations to write, and the messages about them. */
export interface RevocationPlan {
  readonly revocations: readonly Pick<Revocation, 'apiVersion' | 'kind' | 'metadata' | 'spec'>[];
  readonly certificates: readonly PlannedCertificate[];
  readonly notes: readonly string[];
  /** Reasons why nothing can be written. */
  readonly refusals: readonly string[];
}

/** One certificate of a plan. */
export interface PlannedCertificate {
  readonly signerName: string;
  readonly serial: string;
  /** `sha256:<hex>` of the CA, if known. */
  readonly authority?: string;
  /** RFC 3339 time, if known. */
  readonly notAfter?: string;
  /**
   * Sources of the certificate: `csr alice`, `record 1-42`. Empty for a serial number that no
   * source has.
   */
  readonly sources: readonly string[];
}

/**
 * Entries that fit into a ConfigMap with the expiry of each. A CRL that does not fit cannot be
 * renewed either.
 */
export const MAX_REVOCABLE = 8000;

/**
 * Plans Revocations of the selected certificates, one for each signer and 256 certificates.
 * Synchronous and total.
 */
export function planRevocation(input: PlanInput): RevocationPlan {
  const { found, signerName, now } = input;
  const known = new Set(input.signers.map(({ spec }) => spec.signerName));
  const issuers = readIssuers(input.signers, found);
  const chosen = found.filter(
    (each) =>
      (signerName === undefined || signerName === each.signerName) &&
      each.chain[0].notAfter >= now &&
      isSelected(input.selection, each, issuers),
  );
  const ours = chosen.filter((each) => known.has(each.signerName));
  const { issued: selected, foreign } = sortByIssuer(issuers, ours);
  const elsewhere = chosen.filter((each) => !known.has(each.signerName));
  const planned = selected.map(plannedOf);
  const unseen = unseenSerials(input, planned, foreign, issuers);
  const certificates = merged([...planned, ...unseen.certificates]);
  const names = [...new Set(certificates.map((each) => each.signerName))];
  const refusals = [
    ...unseen.refusals,
    ...refusalsOf(input, certificates, foreign),
    ...(input.withoutCrl ? [] : crlRefusals(input, names)),
  ];
  const revocations = names.flatMap((each) => revocationsOf(input, each, certificates, selected));
  return {
    revocations: refusals.length === 0 ? revocations : [],
    certificates,
    notes: [
      ...notesOf(input, names, certificates),
      ...accessNotes(selected),
      // Each has a limit of its own: tenants write as many of the others as they like.
      ...limited(orderNotes(elsewhere)),
      ...limited(notesElsewhere(elsewhere)),
      ...limited(foreignNotes(foreign, selected, certificates)),
    ],
    refusals,
  };
}

function isSelected(
  { serial, pod, user, ca, san, certificate }: Selection,
  each: FoundCertificate,
  { verdictOn }: Issuers,
): boolean {
  const [leaf] = each.chain;
  if (certificate !== undefined) return sameBytes(leaf.raw, certificate.chain[0].raw);
  if (serial !== undefined) return serial.map(canonicalSerial).includes(serialText(leaf.serial));
  if (pod !== undefined)
    return each.pod !== undefined && `${each.pod.namespace}/${each.pod.name}` === pod;
  if (user !== undefined) return each.user === user;
  if (ca !== undefined) {
    const issuer = verdictOn(each);
    return (issuer.kind === 'issued' && issuer.authorities.includes(ca)) || hasAbove(each, ca);
  }
  return san !== undefined && namesIn(leaf).includes(san);
}

/** Reports whether a CA in the chain issued the certificate. The status may lack this CA. */
function hasAbove({ chain: [leaf, ...above] }: FoundCertificate, ca: string): boolean {
  return above.some((each) => fingerprint(each.raw) === ca && isSignedBy(leaf, each));
}

function namesIn({ subject, sans }: Certificate): readonly string[] {
  const common = subject.attributes.filter(({ oid }) => oid === OID_COMMON_NAME);
  const { dnsNames, emails, ipAddresses, uris } = sans;
  return [...common.map(({ value }) => value), ...dnsNames, ...emails, ...ipAddresses, ...uris];
}

function plannedOf({
  signerName,
  chain: [leaf],
  authority,
  source,
}: FoundCertificate): PlannedCertificate {
  return {
    signerName,
    serial: serialText(leaf.serial),
    ...present('authority', authority),
    notAfter: formatTime(leaf.notAfter),
    sources: [source],
  };
}

const UNREAD =
  '. The ledger was not read, and may have one: the same command without --dry-run reads it';

/**
 * Returns entries for serial numbers that no source has, or only a certificate that no CA of the
 * signer issued. They are revoked too if the signer is known.
 */
function unseenSerials(
  { selection: { serial = [] }, signerName, isUnread }: PlanInput,
  planned: readonly PlannedCertificate[],
  foreign: readonly FoundCertificate[],
  { casOf }: Issuers,
): Pick<RevocationPlan, 'certificates' | 'refusals'> {
  const seen = new Set(planned.map((each) => each.serial));
  const unseen = serial.map(canonicalSerial).filter((each) => !seen.has(each));
  const wrong = unseen.filter((each) => !isSerial(each));
  if (wrong.length > 0) {
    return { certificates: [], refusals: ['a serial number has 1 to 40 hexadecimal digits'] };
  }
  if (unseen.length > 0 && signerName === undefined) {
    const sameSerial = foreign.filter(({ chain: [leaf] }) =>
      unseen.includes(serialText(leaf.serial)),
    );
    const only = sameSerial.length === 0 ? '' : ' that a CA of its signer issued';
    const text = `no searched place has a certificate${only} with serial number ${unseen.join(', ')}: name its signer with --signer to revoke it anyway${isUnread ? UNREAD : ''}`;
    return { certificates: [], refusals: [text] };
  }
  const own = casOf(signerName ?? '').find(
    (ca) => isSelfIssued(ca) && unseen.includes(serialText(ca.serial)),
  );
  if (own !== undefined) {
    const text = `${serialText(own.serial)} is the serial number of CA ${fingerprint(own.raw)} itself, and on its CRL it makes verifiers refuse every certificate below: distrust the CA instead (countersign authority revoke, or for a CA of your own, another CA in its Secret)`;
    return { certificates: [], refusals: [text] };
  }
  const certificates = unseen.map((each) => ({
    signerName: signerName ?? '',
    serial: each,
    sources: [],
  }));
  return { certificates, refusals: [] };
}

/**
 * Reports whether a text is a serial number. @param text - as `canonicalSerial` returns it; RFC
 * 5280 §4.1.2.2: at most 20 octets
 */
export function isSerial(text: string): boolean {
  return /^[0-9a-f]{1,40}$/.test(text);
}

/** Merges entries of the same certificate, with all its sources. */
function merged(all: readonly PlannedCertificate[]): readonly PlannedCertificate[] {
  const groups = Map.groupBy(all, ({ signerName, serial }) => `${signerName} ${serial}`);
  return [...groups.values()].map((each) =>
    each.reduce((one, next) => ({
      ...one,
      ...next,
      sources: [...new Set([...one.sources, ...next.sources])],
    })),
  );
}

function refusalsOf(
  { signerName, signers, selection, allowRenewal, isUnread, cutAt, now }: PlanInput,
  certificates: readonly PlannedCertificate[],
  foreign: readonly FoundCertificate[],
): readonly string[] {
  const { serial, certificate } = selection;
  if (signerName !== undefined && !signers.some(({ spec }) => spec.signerName === signerName)) {
    return [refusalOfSigner(signerName)];
  }
  const tooMany = countRefusal(certificates.length, cutAt);
  if (tooMany !== undefined) return [tooMany];
  if (certificates.length > 0 || serial !== undefined) return [];
  if (certificate !== undefined) return [refusalOf(certificate, now)];
  const rest = allowRenewal ? '' : ', and without one it is unknown which holders to refuse';
  const of = foreign.length === 0 ? '' : ' that a CA of its signer issued';
  return [
    `no searched place has such an unexpired certificate${of}${rest}${isUnread ? UNREAD : ''}`,
  ];
}

/** Returns the refusal if no CRL has room for the certificates, or not all records were read. */
function countRefusal(count: number, cutAt: number | undefined): string | undefined {
  if (count > MAX_REVOCABLE)
    return `these are more than ${MAX_REVOCABLE} certificates, and no CRL has room for them: distrust their CA (countersign authority revoke), or choose fewer`;
  return cutAt === undefined
    ? undefined
    : `the ledger has more than ${cutAt} records of such certificates, and the others were not read: choose fewer, for example with --signer`;
}

/** Returns the refusal for a signer name that no ClusterSigner has. */
export function refusalOfSigner(signerName: string): string {
  const signer = derivedFrom(signerName);
  return signer === undefined
    ? `no ClusterSigner has the signer name ${signerName}; the certificates of ACME signers are revoked with countersign revoke order/NAME`
    : `${signerName} is the name of Signer ${signer}, and no CRL is signed for a Signer: its certificates stay valid until they expire. To end that earlier, put another CA into the Secret of the Signer, and take the previous CA from the verifiers (docs/how-to/rotate-a-ca.md#your-own-ca)`;
}

/** Advice about a certificate in a status that a tenant may write: its serial number is theirs. */
export const SELECT_BY_SERIAL =
  'Select it by --serial and --signer only if you know that the CA issued it';

/** Returns why the certificate of a named request is not revoked. */
function refusalOf(certificate: FoundCertificate, now: number): string {
  const {
    source,
    signerName,
    isUnguarded,
    chain: [leaf],
  } = certificate;
  if (leaf.notAfter >= now)
    return `no CA in the status of the ClusterSigner of ${signerName} issued the certificate of ${source}, so whoever wrote it there may have chosen its serial number ${serialText(leaf.serial)}, which another certificate may have. ${SELECT_BY_SERIAL}`;
  const rest =
    isUnguarded === true
      ? '. Whoever may write this status can put an older certificate there: --san NAME finds the others'
      : '';
  return `the certificate of ${source} expired at ${formatTime(leaf.notAfter)}: there is nothing to revoke${rest}`;
}

/** Returns the ClusterSigners that sign no CRL. */
function plainSigners({ signers }: PlanInput, names: readonly string[]): readonly ClusterSigner[] {
  return signers.filter(
    ({ spec }) => names.includes(spec.signerName) && spec.profile.crl === undefined,
  );
}

/** Merge patch that gives a signer CRLs. docs/how-to/revoke.md prints the same. */
const SET_CRL = '{"spec":{"profile":{"crl":{"validity":"24h"}}}}';

/** Returns a refusal for each signer whose Revocations would have no effect. */
function crlRefusals(input: PlanInput, names: readonly string[]): readonly string[] {
  return plainSigners(input, names).map(crlRefusal);
}

function crlRefusal({ metadata, spec }: ClusterSigner): string {
  const { signerName, authority } = spec;
  if (authority.keyHolder !== undefined)
    return `the CA key of the ClusterSigner of ${signerName} is in a key holder, and authority signs no CRL with it: no CRL would list the certificates, and their holders would get new ones. List the serial numbers on a CRL of your own (docs/how-to/key-holder.md). Or replace the CA: change spec.authority.keyHolder and the key`;
  const name = shellWord(metadata.name);
  const { namespace, name: secret } = authority.secret ?? {};
  const distrust =
    authority.secret === undefined
      ? `if its key was stolen, distrust the CA, and verifiers reject all its certificates: countersign authority revoke ${name} FINGERPRINT`
      : `if its key was stolen, put another CA into Secret ${namespace}/${secret}, and take this one from the verifiers`;
  return `the ClusterSigner of ${signerName} has no spec.profile.crl: no CRL would list the certificates, and their holders would get new ones. Set it with kubectl patch clustersigner ${name} --type=merge -p '${SET_CRL}', and then repeat countersign revoke. Or ${distrust}. Or add --without-crl: the Revocation then takes effect once you set spec.profile.crl`;
}

function revocationsOf(
  { reason, selection, allowRenewal }: PlanInput,
  signerName: string,
  certificates: readonly PlannedCertificate[],
  selected: readonly FoundCertificate[],
): RevocationPlan['revocations'] {
  const own = certificates.filter((each) => each.signerName === signerName);
  const ofSigner = selected.filter((each) => each.signerName === signerName);
  const holders = allowRenewal ? [] : holdersOf(selection, ofSigner);
  const parts = Array.from({ length: Math.ceil(own.length / MAX_REVOKED) }, (_, index) =>
    own.slice(index * MAX_REVOKED, (index + 1) * MAX_REVOKED),
  );
  return parts.map((part, index) => {
    const refused = holders.slice(index * MAX_REVOKED, (index + 1) * MAX_REVOKED);
    const spec: RevocationSpec = {
      signerName,
      reason,
      certificates: part.map(({ serial, authority, notAfter }) => ({
        serial,
        ...(authority === undefined ? {} : { authority }),
        ...(notAfter === undefined ? {} : { notAfter }),
      })),
      ...(refused.length === 0 ? {} : { holders: refused }),
    };
    const { group, version } = REVOCATIONS;
    return {
      apiVersion: `${group}/${version}`,
      kind: 'Revocation',
      // The API server fills in the rest.
      metadata: { name: nameOf(spec) } as Revocation['metadata'],
      spec,
    };
  });
}

/** Derives the name from the contents, so that repeating a revocation writes the same object. */
function nameOf(spec: RevocationSpec): string {
  const digest = createHash('sha256').update(JSON.stringify(spec)).digest('hex');
  return `revoked-${digest.slice(0, 16)}`;
}

/**
 * Returns the holders to refuse, by the criterion of the selection. A pod is identified by its UID,
 * so that its successor gets a certificate.
 */
function holdersOf(
  { serial, pod, user, san, certificate }: Selection,
  selected: readonly FoundCertificate[],
): readonly RevokedHolder[] {
  if (user !== undefined) return [{ user }];
  if (san !== undefined) return [{ name: san }];
  if (pod !== undefined) {
    const pods = selected.flatMap((each) => each.pod ?? []);
    return [...new Map(pods.map((each) => [each.uid, { pod: each }])).values()];
  }
  if (serial === undefined && certificate === undefined) return [];
  const keys = selected.map(({ chain: [leaf] }) => {
    const digest = createHash('sha256').update(leaf.publicKey.spki).digest('hex');
    return `sha256:${digest}`;
  });
  return [...new Set(keys)].map((key) => ({ key }));
}

/** Returns a note for each signer whose certificates the API server may still accept. */
function accessNotes(selected: readonly FoundCertificate[]): readonly string[] {
  // pcr-issuer issues to pods, which have service account tokens for the API server.
  const ofPeople = selected.filter(({ pod }) => pod === undefined);
  const bySigner = Map.groupBy(ofPeople, ({ signerName }) => signerName);
  return [...bySigner].flatMap(
    ([signerName, each]) =>
      accessNote(
        signerName,
        each.map(({ chain: [leaf] }) => leaf),
      ) ?? [],
  );
}

/** Returns the command for each certificate that only an ACME server can revoke. */
function orderNotes(elsewhere: readonly FoundCertificate[]): readonly string[] {
  const notes = elsewhere.flatMap(({ order }) =>
    order === undefined
      ? []
      : [
          `an ACME server signed the certificate of order ${order.namespace}/${order.name}: countersign revoke order/${order.name} -n ${order.namespace}`,
        ],
  );
  return [...new Set(notes)];
}

/** Returns notes about found certificates that no CRL of this installation can list. */
function notesElsewhere(elsewhere: readonly FoundCertificate[]): readonly string[] {
  const groups = Map.groupBy(elsewhere, ({ chain: [leaf] }) => fingerprint(leaf.raw));
  return [...groups.values()].flatMap((each) =>
    each.some(({ order }) => order !== undefined)
      ? []
      : [
          `${each[0]?.source} is of ${each[0]?.signerName}, which is not a ClusterSigner: no CRL lists its certificate`,
        ],
  );
}

/**
 * Returns a note for each certificate that is not revoked because no CA of its signer issued it,
 * and for each whose serial number is revoked although only this certificate has it.
 */
function foreignNotes(
  foreign: readonly FoundCertificate[],
  selected: readonly FoundCertificate[],
  certificates: readonly PlannedCertificate[],
): readonly string[] {
  const keyOf = ({ signerName, chain: [leaf] }: FoundCertificate): string =>
    `${signerName} ${serialText(leaf.serial)}`;
  const issued = new Set(selected.map(keyOf));
  const revoked = new Set(certificates.map(({ signerName, serial }) => `${signerName} ${serial}`));
  const notes = foreign
    .filter((each) => !issued.has(keyOf(each)))
    .map((each) => {
      const { source, signerName, chain } = each;
      const what = `no CA in the status of the ClusterSigner of ${signerName} issued the certificate of ${source}`;
      return revoked.has(keyOf(each))
        ? `${what}, and no other one was found with the serial number ${serialText(chain[0].serial)}: the CA may never have issued a certificate with it`
        : `${what}, so it is not revoked`;
    });
  return [...new Set(notes)];
}

function limited(texts: readonly string[]): readonly string[] {
  const more = texts.length - MAX_NOTES;
  return more > 0 ? [...texts.slice(0, MAX_NOTES), `and ${more} more such certificates`] : texts;
}

const MAX_NOTES = 20;

function notesOf(
  input: PlanInput,
  names: readonly string[],
  certificates: readonly PlannedCertificate[],
): readonly string[] {
  const { selection, withoutCrl } = input;
  const plain = withoutCrl ? plainSigners(input, names) : [];
  const vague = certificates.filter(({ authority }) => authority === undefined);
  return [
    ...plain.map(({ spec: { signerName, authority } }) =>
      authority.keyHolder === undefined
        ? `the ClusterSigner of ${signerName} has no spec.profile.crl: until it has, no CRL lists them and no holder is refused`
        : `the CA key of the ClusterSigner of ${signerName} is in a key holder: no CRL lists them and no holder is refused`,
    ),
    ...(vague.length === 0
      ? []
      : [
          `${vague.length} of them: it is not known which CA issued them, so each CA of the signer lists them. If the signer has lost the key of that CA, no CRL lists them, and verifiers accept them until they no longer trust it`,
        ]),
    ...(selection.ca === undefined
      ? []
      : [
          'if the key of this CA was stolen, distrust it instead (countersign authority revoke): a thief can sign other certificates',
        ]),
  ];
}
