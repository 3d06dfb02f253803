// SPDX-License-Identifier: Apache-2.0
/** What one verb reads, makes and signs. */
import { randomBytes } from 'node:crypto';
import { SignerError, usageError } from '#base/errors.ts';
import type { SigningVerb } from '#ca/ceremony/ceremony-file.ts';
import {
  MAX_COUNT,
  intermediateSlots,
  planCross,
  planIntermediates,
  planRoot,
  type CertificatePlan,
} from '#ca/ceremony/plan-certificate.ts';
import { planList, readList, type PlannedList } from '#ca/ceremony/plan-list.ts';
import { provenRequest } from '#ca/ceremony/request.ts';
import { signCertificate, signList } from '#ca/ceremony/sign.ts';
import type { InputRole, NamedFile } from '#ca/ceremony/transcript.ts';
import { caKeyOf, type CaKey } from '#ca/custody/ca-key.ts';
import { decodePem, encodePem } from '#pki/der/pem.ts';
import { generatePrivateKey } from '#pki/keys/private-key.ts';
import { decodeCertificate, type Certificate } from '#pki/x509/certificate.ts';
import { readInput, type OpenCeremony } from './files.ts';
import { encryptedFile } from './key-store.ts';
import { newPassphrase, passphraseOf } from './passphrase.ts';
import type { CeremonyOptions } from './options.ts';
import { shownCertificate, shownList, type SigningPreview } from './show.ts';

/** A signed output. */
export interface SignedFile extends NamedFile<'certificate' | 'CRL'> {
  readonly der: Uint8Array;
}

/** One thing to sign. */
interface Item {
  readonly path: string;
  readonly tbs: Uint8Array;
  readonly shown: SigningPreview;
  readonly sign: (key: CaKey) => Promise<SignedFile>;
}

/** All that a verb reads, makes and signs. */
export interface Work {
  readonly inputs: readonly NamedFile<InputRole>[];
  readonly items: readonly Item[];
  /** The files of the keys that the ceremony makes. */
  readonly keys: readonly NamedFile<'key'>[];
  /** The CA that signs. Undefined for a root, which signs itself. */
  readonly parent: Certificate | undefined;
  readonly openKey: () => Promise<CaKey>;
}

const random = (size: number): Uint8Array => randomBytes(size);

/**
 * Reads the inputs of a verb, and plans what it signs.
 *
 * @throws SignerError USAGE (`fail`), AUTHORITY_INVALID (`authority`), LINT_FAILED (`wait`)
 */
export async function planWork(
  verb: SigningVerb,
  ceremony: OpenCeremony,
  options: CeremonyOptions,
): Promise<Work> {
  if (verb === 'root') return planRootWork(ceremony, options);
  const inputs = new Inputs(ceremony);
  const { file, directory } = ceremony;
  const parent = await inputs.certificate('ca certificate', file.ca.certificate, 'ca.certificate');
  const { keys, items } = await planBelow(verb, { ceremony, options, inputs, parent });
  const { file: keyFile } = file.ca.key;
  // The hash of the key's file is recorded, and a dry run needs no key.
  if (!options.dryRun) await inputs.read('ca key', keyFile, 'ca.key.file');
  return {
    inputs: inputs.all,
    items,
    keys,
    parent,
    openKey: async () => {
      const passphrase = await passphraseOf(options.passphraseFile, keyFile);
      return encryptedFile(directory, keyFile, 'ca.key.file').open(passphrase);
    },
  };
}

async function planRootWork(ceremony: OpenCeremony, options: CeremonyOptions): Promise<Work> {
  const { file, directory, source } = ceremony;
  if (file.root === undefined) throw usageError('the file of the ceremony has no section root');
  const { file: path } = file.ca.key;
  const { keyType } = file.root;
  const { key, contents } = options.dryRun
    ? { key: caKeyOf((await generatePrivateKey(keyType)).key), contents: new Uint8Array() }
    : await encryptedFile(directory, path, 'ca.key.file').create(
        keyType,
        await newPassphrase(options.passphraseFile, path),
      );
  const plan = planRoot(file, { spki: key.spki, algorithm: key.algorithm.der }, random);
  return {
    inputs: [source],
    items: [certificateItem(plan)],
    keys: [{ role: 'key', path, contents }],
    parent: undefined,
    openKey: () => Promise.resolve(key),
  };
}

interface Below {
  readonly ceremony: OpenCeremony;
  readonly options: CeremonyOptions;
  readonly inputs: Inputs;
  readonly parent: Certificate;
}

function planBelow(
  verb: Exclude<SigningVerb, 'root'>,
  below: Below,
): Promise<Pick<Work, 'keys' | 'items'>> {
  return { intermediate: planIntermediateWork, cross: planCrossWork, crl: planListWork }[verb](
    below,
  );
}

async function planIntermediateWork({
  ceremony,
  options,
  inputs,
  parent,
}: Below): Promise<Pick<Work, 'keys' | 'items'>> {
  const { file } = ceremony;
  const { count = 1 } = options;
  if (count > MAX_COUNT) throw usageError(`--count: at most ${MAX_COUNT}`);
  const slots = intermediateSlots(file, count);
  const { csr, key } = file.intermediate ?? {};
  if (csr !== undefined) {
    const pem = await inputs.read('request', csr, 'intermediate.csr');
    const request = named('intermediate.csr', csr, () => provenRequest(textOf(pem)));
    const plans = planIntermediates(file, parent, request, random);
    return { keys: [], items: plans.map(certificateItem) };
  }
  const type = key?.type ?? 'ECDSAP256';
  const keys = await makeKeys(ceremony, options, { slots, type });
  const spkis = keys.map(({ spki }) => spki);
  const plans = planIntermediates(file, parent, spkis, random);
  return { keys: keys.map(({ file: made }) => made), items: plans.map(certificateItem) };
}

interface MadeKey {
  readonly spki: Uint8Array;
  readonly file: NamedFile<'key'>;
}

/** Makes the keys of intermediates, all with one passphrase. */
async function makeKeys(
  { directory }: OpenCeremony,
  { dryRun, newPassphraseFile }: CeremonyOptions,
  {
    slots,
    type,
  }: {
    readonly slots: ReturnType<typeof intermediateSlots>;
    readonly type: Parameters<ReturnType<typeof encryptedFile>['create']>[0];
  },
): Promise<readonly MadeKey[]> {
  const of = slots.length > 1 ? `the ${slots.length} new keys` : (slots[0]?.keyFile ?? '');
  const passphrase = dryRun ? '' : await newPassphrase(newPassphraseFile, of);
  const made: MadeKey[] = [];
  for (const { keyFile: path = '' } of slots) {
    if (dryRun) {
      const { spki } = await generatePrivateKey(type);
      made.push({ spki, file: { role: 'key', path, contents: new Uint8Array() } });
    } else {
      const store = encryptedFile(directory, path, 'intermediate.key.file');
      const { key, contents } = await store.create(type, passphrase);
      made.push({ spki: key.spki, file: { role: 'key', path, contents } });
    }
  }
  return made;
}

async function planCrossWork({
  ceremony,
  inputs,
  parent,
}: Below): Promise<Pick<Work, 'keys' | 'items'>> {
  const path = ceremony.file.cross?.of;
  if (path === undefined) throw usageError('the file of the ceremony has no section cross');
  const of = await inputs.certificate('other certificate', path, 'cross.of');
  return { keys: [], items: [certificateItem(planCross(ceremony.file, parent, of, random))] };
}

async function planListWork({
  ceremony,
  inputs,
  parent,
}: Below): Promise<Pick<Work, 'keys' | 'items'>> {
  const section = ceremony.file.crl;
  if (section === undefined) throw usageError('the file of the ceremony has no section crl');
  const { previous: path, revoked = [] } = section;
  const contents =
    path === undefined ? undefined : await inputs.read('previous CRL', path, 'crl.previous');
  const previous =
    contents === undefined
      ? undefined
      : named('crl.previous', path ?? '', () => readList(contents));
  const certificates = new Map<string, Certificate>();
  for (const [index, { certificate }] of revoked.entries()) {
    if (certificate === undefined || certificates.has(certificate)) continue;
    const field = `crl.revoked.${index}.certificate`;
    const read = await inputs.certificate('revoked certificate', certificate, field);
    certificates.set(certificate, read);
  }
  const plan = planList(ceremony.file, {
    parent,
    previous,
    certificateOf: (each) => {
      const found = certificates.get(each);
      if (found === undefined) throw new Error(`${each} was not read`);
      return found;
    },
  });
  return { keys: [], items: [listItem(plan, parent)] };
}

function certificateItem(plan: CertificatePlan): Item {
  return {
    path: plan.certificate,
    tbs: plan.tbs,
    shown: shownCertificate(plan),
    sign: async (key) => {
      const der = await signCertificate(plan, key);
      const contents = Buffer.from(encodePem('CERTIFICATE', der));
      return { role: 'certificate', path: plan.certificate, contents, der };
    },
  };
}

function listItem(plan: PlannedList, parent: Certificate): Item {
  return {
    path: plan.file,
    tbs: plan.tbs,
    shown: shownList(plan),
    sign: async (key) => {
      const der = await signList(plan, key, parent);
      // Files of this name have DER (RFC 2585 §3), and so has what an HTTP server sends.
      return { role: 'CRL', path: plan.file, contents: der, der };
    },
  };
}

/** The inputs of a ceremony in the order in which they are read. */
class Inputs {
  readonly #ceremony: OpenCeremony;
  readonly #all: NamedFile<InputRole>[];

  constructor(ceremony: OpenCeremony) {
    this.#ceremony = ceremony;
    this.#all = [ceremony.source];
  }

  get all(): readonly NamedFile<InputRole>[] {
    return this.#all;
  }

  async read(role: InputRole, path: string, field: string): Promise<Uint8Array> {
    const contents = await readInput(this.#ceremony.directory, path, field);
    this.#all.push({ role, path, contents });
    return contents;
  }

  async certificate(role: InputRole, path: string, field: string): Promise<Certificate> {
    const contents = await this.read(role, path, field);
    return named(field, path, () => decodeCertificate(decodePem(textOf(contents), 'CERTIFICATE')));
  }
}

/** Runs a decoder. Its errors get the field and the file. */
function named<T>(field: string, path: string, decode: () => T): T {
  try {
    return decode();
  } catch (error) {
    if (!(error instanceof SignerError)) throw error;
    throw usageError(`${field}: ${path}: ${error.message}`, error);
  }
}

function textOf(contents: Uint8Array): string {
  return Buffer.from(contents).toString('latin1');
}
