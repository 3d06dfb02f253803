// SPDX-License-Identifier: Apache-2.0
/** The bytes and packages that a component of the bundle loads. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { before, test } from 'node:test';
import { build, type Metafile } from 'esbuild';
import packageJson from '../../package.json' with { type: 'json' };
import { bundleProgram, ENTRY } from '../../build/bundle-program.ts';
import { filesOf } from '../../build/layers.ts';
import { narrowPackages } from '../../build/narrow/plugin.ts';
import { PROCESSES } from '#install/component-list.ts';

/** Bytes of code in a component, without Node. */
const MAX_BYTES = 3_000_000;
/** Bytes that a command loads before it is known. */
const MAX_PROGRAM_BYTES = 350_000;

/** Parts that every component loads. */
const EVERY_COMPONENT = [
  ENTRY,
  'src/cli/program.ts',
  'src/app/host.ts',
  'node_modules/@kubernetes/client-node/dist/config.js',
];

const EVERY_PACKAGE = [
  '@kubernetes/client-node',
  'commander',
  'express',
  'pino',
  'prom-client',
  'undici',
  'zod',
];
const CEL = ['@marcbachmann/cel-js', 're2js'];

/** Direct dependencies that a component loads besides. */
const PACKAGES: Readonly<Record<(typeof PROCESSES)[number]['name'], readonly string[]>> = {
  approver: CEL,
  signer: CEL,
  'pcr-issuer': CEL,
  'certificate-request': CEL,
  'external-signer': CEL,
  attester: [],
  authority: [...CEL, 'asn1js', 'pkijs'],
  'trust-distributor': [],
  'bundle-endpoint': [],
  federation: [],
  acme: [...CEL, 'dns-packet', 'jose', 'tldts'],
  'acme-responder': [],
  'acme-solver': ['dns-packet'],
  ledger: ['pg'],
  notifier: [],
  operator: ['yaml'],
  'cert-manager-operator': ['yaml'],
  'pod-refresher': [],
};

/** Folders of code that only the components named load. Descriptors are data. */
const OWN_CODE: readonly (readonly [folder: string, components: readonly string[]])[] = [
  ['acme/acme/', ['acme']],
  ['requests/external-signer/', ['external-signer']],
  ['acme/orders/', ['acme']],
  ['acme/protocol/', ['acme']],
  ['acme/issuing/', ['acme']],
  ['acme/solving/dns01/', ['acme', 'acme-solver']],
  ['ca/ceremony/', []],
  ['console/', []],
  ['conformance/runner/', []],
  ['conformance/assertions/', []],
  ['conformance/pcr/', []],
  ['ledger/database/', ['ledger']],
  ['pki/keystores/', []],
];
const DESCRIPTOR = /\/(?:component|flags|messages|permissions|metrics)\.ts$/;

let metafile: Metafile;
before(async () => {
  metafile = await bundleProgram({ write: false });
});

type Output = Metafile['outputs'][string];

/** Returns the files of the bundle that loading these sources reads. */
function loadedBy(entries: readonly string[]): readonly Output[] {
  const { outputs } = metafile;
  const paths = Object.entries(outputs).flatMap(([path, { entryPoint }]) =>
    entryPoint !== undefined && entries.includes(entryPoint) ? [path] : [],
  );
  assert.equal(paths.length, entries.length, `one of ${entries.join(', ')} is no entry`);
  const files = new Set(paths.flatMap((path) => [...filesOf(metafile, path)]));
  return [...files].map((path) => outputs[path] ?? assert.fail(path));
}

function entryOf(name: string): string {
  const suffix = `/${name}/run.ts`;
  const found = Object.values(metafile.outputs).find(
    ({ entryPoint }) => entryPoint?.endsWith(suffix) && !entryPoint.includes('/commands/'),
  );
  return found?.entryPoint ?? assert.fail(`${name} has no run.ts in the bundle`);
}

function bytesOf(files: readonly Output[]): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}

/** Returns the sources of files that have code in them. */
function sourcesOf(files: readonly Output[]): readonly string[] {
  return files.flatMap(({ inputs }) =>
    Object.entries(inputs).flatMap(([path, { bytesInOutput }]) =>
      bytesInOutput > 0 ? [path] : [],
    ),
  );
}

/** Returns the direct dependencies among the sources, in the order of their names. */
function packagesOf(files: readonly Output[]): readonly string[] {
  const packages = sourcesOf(files).flatMap(
    (path) => /node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1] ?? [],
  );
  return [...new Set(packages)].filter((name) => name in packageJson.dependencies).sort();
}

for (const { name } of PROCESSES) {
  test(`${name} loads at most ${MAX_BYTES} bytes, of these packages`, () => {
    const files = loadedBy([...EVERY_COMPONENT, entryOf(name)]);
    assert.deepEqual(packagesOf(files), [...EVERY_PACKAGE, ...PACKAGES[name]].sort());
    assert.ok(bytesOf(files) <= MAX_BYTES, `${bytesOf(files)}`);
  });

  test(`${name} loads no code of other capabilities`, () => {
    const sources = sourcesOf(loadedBy([...EVERY_COMPONENT, entryOf(name)]));
    const others = OWN_CODE.filter(([, components]) => !components.includes(name));
    const foreign = sources.filter(
      (path) =>
        !DESCRIPTOR.test(path) && others.some(([folder]) => path.startsWith(`src/${folder}`)),
    );
    assert.deepEqual(foreign, []);
  });
}

test(`the command line loads at most ${MAX_PROGRAM_BYTES} bytes before a command is called`, () => {
  const files = loadedBy([ENTRY, 'src/cli/program.ts']);
  assert.deepEqual(packagesOf(files), ['commander']);
  assert.ok(bytesOf(files) <= MAX_PROGRAM_BYTES, `${bytesOf(files)}`);
});

test('the bundle has no models of client-node and no second HTTP parser', () => {
  const sources = sourcesOf(Object.values(metafile.outputs));
  const unwanted =
    /client-node\/dist\/gen\/(?:models|apis)\/|undici\/lib\/(?:milo|mock|web\/websocket|cache)\/|zod\/v4\/locales\/(?!en\.)/;
  assert.deepEqual(
    sources.filter((path) => unwanted.test(path)),
    [],
  );
});

test('an import of undici that the bundle omits fails the build', async () => {
  const building = build({
    stdin: {
      contents: "import { fetch } from 'undici'; fetch();",
      resolveDir: import.meta.dirname,
    },
    bundle: true,
    write: false,
    platform: 'node',
    logLevel: 'silent',
    plugins: [narrowPackages],
  });
  await assert.rejects(building, /No matching export in "undici:undici" for import "fetch"/);
});

test('no path of the machine is in the bundle, which is the same wherever it is built', () => {
  const { inputs, outputs } = metafile;
  const root = join(import.meta.dirname, '../..');
  const names = [...Object.keys(inputs), ...Object.keys(outputs)];
  assert.deepEqual(
    names.filter((name) => name.includes(root)),
    [],
  );
});

test('the bundle imports no module of Node by its ESM form', () => {
  const external = Object.values(metafile.outputs).flatMap(({ imports }) =>
    imports.filter(({ external, kind }) => external === true && kind === 'import-statement'),
  );
  assert.deepEqual([...new Set(external.map(({ path }) => path))], []);
});
