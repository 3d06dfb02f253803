// SPDX-License-Identifier: Apache-2.0

/** The file of folded stacks in bench/results. */
export const STACKS = 'drain-stacks.txt';

/** `Profiler.Profile` of the Chrome DevTools Protocol, reduced to what is read. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** Id of the node at each sample. */
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

/** A stack below this share of all counts for its caller: a graph does not show it. */
const LEAST_SHARE = 0.001;

/**
 * Folds a profile into lines `outer;inner microseconds`, as flame graphs take them, sorted. Time in
 * which the thread did nothing is left out.
 */
export function foldStacks({ nodes, samples, timeDeltas }: CpuProfile): string {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((of) => [of, id])));
  const times = new Map<string, number>();
  const add = (stack: string, time: number): void => {
    times.set(stack, (times.get(stack) ?? 0) + time);
  };
  for (const [index, id] of samples.entries()) {
    const stack = stackOf(id, byId, parents);
    if (stack !== '' && stack !== '(idle)') add(stack, timeDeltas[index] ?? 0);
  }
  const all = [...times.values()].reduce((sum, time) => sum + time, 0);
  // The deepest first: what a caller gets may be enough for it.
  for (let depth = Math.max(...[...times.keys()].map(depthOf)); depth > 1; depth -= 1) {
    for (const [stack, time] of [...times]) {
      if (depthOf(stack) !== depth || time >= all * LEAST_SHARE) continue;
      times.delete(stack);
      add(stack.slice(0, stack.lastIndexOf(';')), time);
    }
  }
  const lines = [...times].map(([stack, time]) => `${stack} ${time}`);
  return `${lines.sort().join('\n')}\n`;
}

function depthOf(stack: string): number {
  return stack.split(';').length;
}

function stackOf(
  id: number,
  nodes: ReadonlyMap<number, ProfileNode>,
  parents: ReadonlyMap<number, number>,
): string {
  const names: string[] = [];
  for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
    const frame = nodes.get(at)?.callFrame;
    if (frame !== undefined && frame.functionName !== '(root)') names.unshift(nameOf(frame));
  }
  return names.join(';');
}

/** Returns the function, with the module if it is one of Node's own; native ones have no file. */
function nameOf({ functionName, url }: ProfileNode['callFrame']): string {
  const name = functionName === '' ? '(anonymous)' : functionName.replace(/[; ]/g, '_');
  if (url === '' && !name.startsWith('(')) return `(native) ${name}`.replace(' ', '_');
  return url.startsWith('node:') ? `${url.replace(/^node:internal\//, 'node:')}:${name}` : name;
}
