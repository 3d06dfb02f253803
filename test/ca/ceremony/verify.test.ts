// SPDX-License-Identifier: Apache-2.0
/** What an auditor recomputes: each difference is named, also those that the CA's key signed. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readCeremony, type SigningVerb } from '#ca/ceremony/ceremony-file.ts';
import { planIntermediates, planRoot } from '#ca/ceremony/plan-certificate.ts';
import { planList } from '#ca/ceremony/plan-list.ts';
import { signCertificate, signList } from '#ca/ceremony/sign.ts';
import {
  decodeTranscript,
  digestOf,
  encodeTranscript,
  entryOf,
  type InputRole,
  type OutputRole,
} from '#ca/ceremony/transcript.ts';
import { verifyCeremony } from '#ca/ceremony/verify.ts';
import { warningsOf } from '#ca/ceremony/warnings.ts';
import { caKeyOf } from '#ca/custody/ca-key.ts';
import { encodePem } from '#pki/der/pem.ts';
import { decodeCertificate, fingerprint } from '#pki/x509/certificate.ts';
import { decodeTbsList } from '#pki/x509/certificate-list.ts';
import { CRL, INTERMEDIATE, ROOT, ceremonyOf, changed } from '../../support/ca/ceremony.ts';
import { random } from '../../support/ca/issuing.ts';
import { privateKey } from '../../support/pki/keys.ts';

type Json = ReturnType<typeof ceremonyOf>;
interface Held {
  readonly verb: SigningVerb;
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly bytes: Uint8Array;
  readonly signature: Uint8Array;
}

const PLAN = ceremonyOf({ root: ROOT, intermediate: INTERMEDIATE, crl: CRL });
const key = caKeyOf(privateKey('P-256', 'root'));
const own = { spki: key.spki, algorithm: key.algorithm.der };
const root = await signCertificate(planRoot(readCeremony(PLAN, ''), own, random), key);
const parent = decodeCertificate(root);
const rootFile = Buffer.from(encodePem('CERTIFICATE', root));

/** One output, signed by this file. The recorded file may be another. */
interface Wanted {
  readonly verb: SigningVerb;
  readonly planned?: Json;
  readonly recorded?: Json;
  /** Outputs and signatures beside the planned ones, and the count. */
  readonly more?: {
    readonly outputs?: readonly [OutputRole, string, Uint8Array][];
    readonly signed?: readonly Uint8Array[];
    readonly count?: number;
  };
}

/** Holds a ceremony in memory. A dishonest one plans by another file than it records. */
async function hold({ verb, planned = PLAN, recorded = PLAN, more = {} }: Wanted): Promise<Held> {
  const file = readCeremony(planned, 'planned');
  const source = Buffer.from(JSON.stringify(recorded));
  const inputs: [InputRole, string, Uint8Array][] = [['ceremony', 'c.yaml', source]];
  const outputs: [OutputRole, string, Uint8Array][] = [];
  const signed: Uint8Array[] = [];
  if (verb === 'root') {
    outputs.push(['key', 'root.key', Buffer.from('key')], ['certificate', 'root.crt', rootFile]);
    signed.push(parent.tbs);
  } else {
    inputs.push(['ca certificate', 'root.crt', rootFile]);
    if (verb === 'crl') {
      const inner = { parent, previous: undefined, certificateOf: () => parent };
      const plan = planList(file, inner);
      outputs.push(['CRL', 'root.crl', await signList(plan, key, parent)]);
      signed.push(plan.tbs);
    } else {
      const spki = caKeyOf(privateKey('P-256', 'made')).spki;
      const [plan] = planIntermediates(file, parent, [spki], random);
      assert.ok(plan);
      const pem = encodePem('CERTIFICATE', await signCertificate(plan, key));
      outputs.push(
        ['key', 'intermediate.key', Buffer.from('key')],
        ['certificate', 'intermediate.crt', Buffer.from(pem)],
      );
      signed.push(plan.tbs);
    }
    inputs.push(['ca key', 'root.key', Buffer.from('key')]);
  }
  outputs.push(...(more.outputs ?? []));
  signed.push(...(more.signed ?? []));
  const entry = <Role extends string>([role, path, contents]: [Role, string, Uint8Array]) =>
    entryOf({ role, path, contents });
  const bytes = encodeTranscript({
    verb,
    count: more.count ?? 1,
    allowUriConstraints: false,
    version: '0.1.0',
    signedAt: '2027-01-01T12:00:00Z',
    confirmed: 'typed',
    present: file.present,
    warnings: [...warningsOf(readCeremony(recorded, 'recorded'), verb, false)],
    ca: { fingerprint: fingerprint(root), algorithm: key.algorithm.name },
    inputs: inputs.map(entry),
    signed: signed.map(digestOf),
    outputs: outputs.map(entry),
  });
  const files = new Map([...inputs, ...outputs].map(([, path, contents]) => [path, contents]));
  return { verb, files, bytes, signature: await key.sign(bytes) };
}

/** Returns what differs or was skipped. */
function found(
  { files, bytes, signature }: Held,
  caFingerprint?: string,
): readonly (readonly [string, string])[] {
  const findings = verifyCeremony({
    transcript: decodeTranscript(bytes, 'transcript'),
    bytes,
    signature,
    contentsOf: (path) => files.get(path),
    parseYaml: (text) => JSON.parse(text) as unknown,
    caFingerprint,
  });
  assert.ok(findings.length >= 8, `${findings.length}`);
  return findings
    .filter(({ outcome }) => outcome !== 'ok')
    .map(({ what, message }) => [what, message] as const);
}

const HONEST = {
  root: await hold({ verb: 'root' }),
  intermediate: await hold({ verb: 'intermediate' }),
  crl: await hold({ verb: 'crl' }),
};

for (const [verb, held] of Object.entries(HONEST)) {
  test(`an honest ceremony of ${verb} is verified`, () => {
    assert.deepEqual(found(held), []);
  });

  for (const path of held.files.keys()) {
    if (path.endsWith('.key')) continue;
    test(`${verb}: a byte more in ${path} is named`, () => {
      const contents = Buffer.concat([held.files.get(path) ?? Buffer.of(), Buffer.of(10)]);
      const files = new Map([...held.files, [path, contents]]);
      const names = found({ ...held, files }).map(([what]) => what);
      assert.ok(
        names.some((what) => what.endsWith(` ${path}`)),
        names.join(),
      );
    });

    test(`${verb}: a lost ${path} is named`, () => {
      const files = new Map([...held.files].filter(([each]) => each !== path));
      const lost = verifyMessages({ ...held, files });
      assert.match(lost, new RegExp(`${path}: the file is not there`));
    });
  }
}

function verifyMessages(held: Held): string {
  const { files, bytes, signature } = held;
  return verifyCeremony({
    transcript: decodeTranscript(bytes, 'transcript'),
    bytes,
    signature,
    contentsOf: (path) => files.get(path),
    parseYaml: (text) => JSON.parse(text) as unknown,
    caFingerprint: undefined,
  })
    .filter(({ outcome }) => outcome === 'differs')
    .map(({ what, message }) => `${what}: ${message}`)
    .join('\n');
}

test('a key that is kept elsewhere is skipped, and not a difference', () => {
  const files = new Map([...HONEST.root.files].filter(([path]) => path !== 'root.key'));
  assert.deepEqual(found({ ...HONEST.root, files }), [
    ['key root.key', 'the key is not here, and is not compared'],
  ]);
});

test('a changed transcript, and one of another key, are named', async () => {
  const text = Buffer.from(HONEST.root.bytes).toString().replace('"typed"', '"flag"');
  const names = found({ ...HONEST.root, bytes: Buffer.from(text) });
  assert.deepEqual(names, [['transcript', 'the key of the CA did not sign these bytes']]);
  const signature = await caKeyOf(privateKey('P-256', 'thief')).sign(HONEST.root.bytes);
  assert.deepEqual(found({ ...HONEST.root, signature }), names);
});

test('the fingerprint that the auditor has decides', () => {
  assert.deepEqual(found(HONEST.root, fingerprint(root)), []);
  const [first] = found(HONEST.root, `sha256:${'0'.repeat(64)}`);
  assert.match(first?.join(': ') ?? '', /^ca: fingerprint is sha256:.* is expected$/);
});

const secondRoot: NonNullable<Wanted['more']> = {
  outputs: [['certificate', 'b.crt', rootFile]],
  signed: [parent.tbs],
};

// The key of the CA signed these: only what the file plans shows that they are others.
const dishonest: Readonly<Record<string, readonly [Wanted, RegExp]>> = {
  'a longer life': [
    {
      verb: 'intermediate',
      planned: ceremonyOf({
        intermediate: changed(INTERMEDIATE, { notAfter: '2039-01-01T00:00:00Z' }),
      }),
    },
    /intermediate\.crt: notAfter is 2039-01-01T00:00:00Z, and the file plans 2029-01-01T00:00:00Z$/,
  ],
  'another name': [
    {
      verb: 'intermediate',
      planned: ceremonyOf({
        intermediate: changed(INTERMEDIATE, { subject: { commonName: 'Other' } }),
      }),
    },
    /subject is CN=Other, and the file plans CN=Example Intermediate$/,
  ],
  'no name constraints': [
    {
      verb: 'intermediate',
      recorded: ceremonyOf({
        intermediate: changed(INTERMEDIATE, {
          nameConstraints: { dns: { permitted: ['example.com'] } },
        }),
      }),
    },
    /extension 2\.5\.29\.30 is absent, and the file plans critical 3/,
  ],
  'another path': [
    {
      verb: 'intermediate',
      recorded: ceremonyOf({ intermediate: changed(INTERMEDIATE, { certificate: 'b.crt' }) }),
    },
    /outputs: the file has .*certificate b\.crt.* the transcript has .*certificate intermediate/,
  ],
  'a request that the transcript hides': [
    {
      verb: 'intermediate',
      recorded: ceremonyOf({ intermediate: changed(INTERMEDIATE, { key: undefined, csr: 'a' }) }),
    },
    /inputs: the file has .*request a/,
  ],
  'a later end of the CRL': [
    {
      verb: 'crl',
      planned: ceremonyOf({ crl: changed(CRL, { nextUpdate: '2030-01-01T00:00:00Z' }) }),
    },
    /root\.crl: nextUpdate is 2030-01-01T00:00:00Z, and the file plans 2028-01-01T00:00:00Z$/,
  ],
  'an entry that the CRL lacks': [
    {
      verb: 'crl',
      recorded: ceremonyOf({
        crl: changed(CRL, {
          revoked: [{ serial: '0a', revokedAt: '2027-01-01T00:00:00Z', reason: 'keyCompromise' }],
        }),
      }),
    },
    /revoked is empty, and the file plans a 2027-01-01T00:00:00Z keyCompromise$/,
  ],
  'a CRL that the file does not plan': [
    { verb: 'root', more: { outputs: [['CRL', 'other.crl', rootFile]] } },
    /outputs: the file has .* and the transcript has .*CRL other\.crl/,
  ],
  'a key that the file does not plan': [
    { verb: 'crl', more: { outputs: [['key', 'other.key', rootFile]] } },
    /outputs: the file has .* and the transcript has .*key other\.key/,
  ],
  'a certificate that the file does not plan': [
    { verb: 'root', more: { ...secondRoot, count: 2 } },
    /certificate b\.crt: the ceremony’s file does not plan it/,
  ],
  'a certificate that is not counted': [
    { verb: 'root', more: secondRoot },
    /signatures: the outputs need 2, 2 are listed, and the count is 1/,
  ],
  'a signature without an output': [
    { verb: 'root', more: { signed: [Buffer.of(1)] } },
    /signatures: the outputs need 1, 2 are listed, and the count is 1/,
  ],
  'more CRLs counted than listed': [
    { verb: 'crl', more: { count: 2 } },
    /signatures: the outputs need 1, 1 are listed, and the count is 2/,
  ],
  'a person who was not there': [
    { verb: 'root', recorded: ceremonyOf({ root: ROOT, present: [{ name: 'E', role: 'e' }] }) },
    /present: the file has .*"E".* and the transcript has .*Ada Example/,
  ],
};

for (const [name, [wanted, message]] of Object.entries(dishonest)) {
  test(`named although the key of the CA signed it: ${name}`, async () => {
    assert.match(verifyMessages(await hold(wanted)), message);
  });
}

test('a transcript with an unknown field is refused', () => {
  const text = Buffer.from(HONEST.root.bytes).toString().replace('{', '{"more": 1,');
  assert.throws(() => decodeTranscript(Buffer.from(text), 't'), /t is not a transcript/);
});

test('no transcript begins as what a CA signs, so neither signature fits the other', () => {
  const SEQUENCE = 0x30;
  for (const { bytes } of Object.values(HONEST)) assert.notEqual(bytes[0], SEQUENCE);
  assert.equal(parent.tbs[0], SEQUENCE);
  assert.throws(() => decodeTbsList(HONEST.crl.bytes), /not valid DER/);
});
