// SPDX-License-Identifier: Apache-2.0
/**
 * A release of cert-manager as its own build makes `cert-manager.yaml`: the chart of its Go module, rendered by helm with
 * the values of `make/manifests.mk` there, and the namespace of `deploy/manifests`.
 */
import { execFile } from 'node:child_process';
import { cp, chmod, mkdtemp, readFile, readdir, rename, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const MODULE = 'github.com/cert-manager/cert-manager';
const run = promisify(execFile);
/** A release has a megabyte. */
const MAX_BYTES = 16 * 1024 * 1024;

/** As `make/manifests.mk` of the releases 1.20 and 1.21 has them. */
const VALUES = [
  ...['--kube-version=1.29.0', '--api-versions=', '--namespace=cert-manager'],
  ...['--set=creator=static', '--set=startupapicheck.enabled=false', '--set=crds.enabled=true'],
];

/**
 * The text of `cert-manager.yaml`, without its comments and in another order.
 *
 * @param version - such as `1.21.2`
 * @param helm - path of the program
 */
export async function renderRelease(version: string, helm: string): Promise<string> {
  const module = await moduleOf(version);
  const directory = await mkdtemp(join(tmpdir(), 'cert-manager-'));
  try {
    const chart = join(directory, 'cert-manager');
    await cp(join(module, 'deploy/charts/cert-manager'), chart, { recursive: true });
    await makeWritable(chart);
    // Before 1.21 the file had another name.
    if ((await readdir(chart)).includes('Chart.template.yaml'))
      await rename(join(chart, 'Chart.template.yaml'), join(chart, 'Chart.yaml'));
    const named = [`--version=v${version}`, `--app-version=v${version}`];
    await run(helm, ['package', ...named, `--destination=${directory}`, chart]);
    const archive = join(directory, `cert-manager-v${version}.tgz`);
    const { stdout } = await run(helm, ['template', ...VALUES, 'cert-manager', archive], {
      maxBuffer: MAX_BYTES,
    });
    const namespace = await readFile(join(module, 'deploy/manifests/namespace.yaml'), 'utf8');
    return `${namespace}\n---\n${stdout}`;
  } finally {
    await rm(directory, { recursive: true });
  }
}

/** The directory of the module, which Go has checked against its database of sums. */
async function moduleOf(version: string): Promise<string> {
  const args = ['mod', 'download', '-json', `${MODULE}@v${version}`];
  const env = { ...process.env, GOWORK: 'off', GOFLAGS: '-mod=mod' };
  const { stdout } = await run('go', args, { cwd: tmpdir(), env });
  return (JSON.parse(stdout) as { Dir: string }).Dir;
}

/** The files of a module cannot be written, nor removed. */
async function makeWritable(directory: string): Promise<void> {
  await chmod(directory, 0o755);
  for (const each of await readdir(directory, { recursive: true, withFileTypes: true }))
    await chmod(join(each.parentPath, each.name), each.isDirectory() ? 0o755 : 0o644);
}
