// SPDX-License-Identifier: Apache-2.0
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { buildGoProgram } from '../../go/build.ts';
import { DEFAULT_FAMILIES, type IpFamily } from './addresses.ts';

/** The path of the program that pods run on; it speaks to kubelets of every version. */
export function buildPodHost(log: (line: string) => void): Promise<string> {
  return buildGoProgram(
    {
      name: 'podhost',
      moduleDirectory: join(import.meta.dirname, '../podhost'),
      files: (name) => name.endsWith('.go') || name.startsWith('go.'),
      words: 'building the host of real pods: a minute or two the first time',
    },
    log,
  );
}

/**
 * Why pods cannot really run here with addresses of these families; undefined where they can. It
 * takes Linux, root, and the right to make namespaces, overlays and veths.
 */
export async function whyNoRealPods(
  families: readonly IpFamily[] = DEFAULT_FAMILIES,
): Promise<string | undefined> {
  if (process.platform !== 'linux')
    return `pods really run on Linux only, not on ${process.platform}`;
  if (process.getuid?.() !== 0) return 'pods really run for root only: namespaces cannot be made';
  const program = await buildPodHost((line) => console.error(line));
  try {
    await promisify(execFile)(program, ['check', ...families]);
    return undefined;
  } catch (error) {
    return (error as { stderr?: string }).stderr ?? String(error);
  }
}

if (import.meta.main) console.log(await buildPodHost((line) => console.error(line)));
