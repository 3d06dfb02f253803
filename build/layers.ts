// SPDX-License-Identifier: Apache-2.0
/**
 * Joins small files of the bundle. esbuild makes one file for each set of entries that share code,
 * and Node spends 0.7 ms on each file that it loads. Each entry that loads a part of a layer
 * imports the whole layer, so that esbuild makes one file of the layer.
 */
import type { Metafile } from 'esbuild';

const MAIN = 'src/cli/main.ts';
/** Sources that main.ts loads before any other entry. */
const ALWAYS = ['src/cli/program.ts', 'src/cli/conventions/usage-errors.ts'];
/** Source that each component loads. */
const HOST = 'src/app/host.ts';
/** Source that connects commands to a cluster. Components load most of what it imports. */
const CLUSTER = 'src/cli/user-client.ts';

const COMPONENT = /^src\/(?!cli\/).*\/run\.ts$/;

/** Returns a file of the bundle, and the files that it imports directly or through others. */
export function filesOf({ outputs }: Metafile, path: string): ReadonlySet<string> {
  const files = new Set<string>();
  const waiting = [path];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (files.has(next)) continue;
    files.add(next);
    for (const { kind, path: imported } of outputs[next]?.imports ?? []) {
      if (kind === 'import-statement' && imported in outputs) waiting.push(imported);
    }
  }
  return files;
}

/**
 * Returns the sources that each entry imports to load whole layers.
 *
 * @param metafile - description of a bundle without layers
 */
export function layersOf(metafile: Metafile): ReadonlyMap<string, readonly string[]> {
  const always = new Set(ALWAYS.flatMap((each) => [...filesWith(metafile, each)]));
  const cluster = [...filesWith(metafile, CLUSTER)].filter((each) => !always.has(each));
  const entries = Object.entries(metafile.outputs).flatMap(([path, { entryPoint }]) =>
    entryPoint?.startsWith('src/') === true ? [{ path, entryPoint }] : [],
  );
  return new Map(
    entries
      .filter(({ entryPoint }) => entryPoint !== MAIN && !ALWAYS.includes(entryPoint))
      .map(({ path, entryPoint }) => {
        const own = filesOf(metafile, path);
        const host = COMPONENT.test(entryPoint) ? [HOST] : [];
        const client = cluster.some((each) => own.has(each)) ? [CLUSTER] : [];
        return [entryPoint, [...ALWAYS, ...host, ...client]] as const;
      }),
  );
}

/** Returns the file of the bundle that contains a source, and the files that it imports. */
function filesWith(metafile: Metafile, source: string): ReadonlySet<string> {
  const path = Object.entries(metafile.outputs).find(
    ([, { inputs }]) => (inputs[source]?.bytesInOutput ?? 0) > 0,
  )?.[0];
  if (path === undefined) throw new Error(`${source} is not in the bundle`);
  return filesOf(metafile, path);
}
