// SPDX-License-Identifier: Apache-2.0
/**
 * Renders the chart of a cert-manager release as its own build does: from its Go module, with the
 * values of its `make/manifests.mk`.
 */
import { execFile } from 'node:child_process';
import { cp, chmod, mkdtemp, readFile, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const MODULE = 'github.com/cert-manager/cert-manager';
const run = promisify(execFile);
/** Exceeds the size of a release, which is a megabyte. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Values from `make/manifests.mk` of the releases 1.20 and 1.21. */
const VALUES = [
  '--kube-version=1.29.0',
  '--api-versions=',
  '--namespace=cert-manager',
  '--set=creator=static',
  '--set=startupapicheck.enabled=false',
];

/** Chart, rendered as by the release's build. */
export interface RenderedChart {
  /** Directory of the Go module. */
  readonly module: string;
  /** Templates by path in the chart. */
  readonly templates: ReadonlyMap<string, string>;
  /** Output with the definitions. */
  readonly all: string;
  /** Output without the definitions. */
  readonly others: string;
}

/**
 * Renders the chart of a release twice.
 *
 * @param version - such as `1.21.2`
 * @param helm - path of the program
 */
export async function renderChart(version: string, helm: string): Promise<RenderedChart> {
  const module = await moduleOf(version);
  const directory = await mkdtemp(join(tmpdir(), 'cert-manager-'));
  try {
    const chart = join(directory, 'cert-manager');
    await cp(join(module, 'deploy/charts/cert-manager'), chart, { recursive: true });
    await makeWritable(chart);
    // Releases before 1.21 name the file differently.
    if ((await readdir(chart)).includes('Chart.template.yaml'))
      await rename(join(chart, 'Chart.template.yaml'), join(chart, 'Chart.yaml'));
    const named = [`--version=v${version}`, `--app-version=v${version}`];
    await run(helm, ['package', ...named, `--destination=${directory}`, chart]);
    const archive = join(directory, `cert-manager-v${version}.tgz`);
    const render = async (...more: string[]): Promise<string> => {
      const args = ['template', ...VALUES, ...more, 'cert-manager', archive];
      return (await run(helm, args, { maxBuffer: MAX_BYTES })).stdout;
    };
    const templates = await templatesIn(chart);
    return {
      module,
      templates,
      all: await render('--set=crds.enabled=true'),
      others: await render(),
    };
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function templatesIn(chart: string): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(join(chart, 'templates'))).filter((each) => each.endsWith('.yaml'));
  const read = async (name: string): Promise<readonly [string, string]> => {
    const path = `templates/${name}`;
    return [path, await readFile(join(chart, path), 'utf8')];
  };
  return new Map(await Promise.all(names.map(read)));
}

/** Returns the directory of the module, which Go has checked against its database of sums. */
async function moduleOf(version: string): Promise<string> {
  const args = ['mod', 'download', '-json', `${MODULE}@v${version}`];
  const env = { ...process.env, GOWORK: 'off', GOFLAGS: '-mod=mod' };
  const { stdout } = await run('go', args, { cwd: tmpdir(), env });
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}

/** Makes the files of a module writable, because Go makes them read-only. */
async function makeWritable(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const each of await readdir(directory, { recursive: true, withFileTypes: true }))
    await chmod(join(each.parentPath, each.name), each.isDirectory() ? 0o755 : 0o644);
}
