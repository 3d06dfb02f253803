// SPDX-License-Identifier: Apache-2.0
/** Carries advice out: read from what is printed, and typed as it is printed. */
import assert from 'node:assert/strict';
import { until } from '../../cluster/until.ts';
import { commandIn, printedBy, type Fault, type Printed, type Way } from './fault.ts';
import type { AdviceStand } from './stand.ts';

const WAIT_MS = 180_000;

/**
 * Breaks all of them, and asks until each is named. Then types each command that is printed, once,
 * and waits until what it was printed for is named no longer. At last nothing is wrong.
 */
export async function carryOut(stand: AdviceStand, way: Way, all: readonly Fault[]): Promise<void> {
  const faults = all.filter(({ ways }) => ways?.includes(way) ?? true);
  await breakAll(stand, faults);
  const waiting = faults.filter((each) => each.healsBy?.includes(way) !== true);
  const printed = await allNamed(stand, waiting);
  const byCommand = Map.groupBy(waiting, (fault) => commandOf(fault, printed));
  for (const [command, each] of byCommand) {
    const edited = each.find(({ edited: by }) => by !== undefined)?.edited;
    if (command.includes('values.yaml')) await editValues(stand, each);
    await type(stand, command, edited);
    await noneNamed(stand, each);
  }
  await allHealed(stand, faults);
}

/** Breaks all of them. */
export async function breakAll(stand: AdviceStand, faults: readonly Fault[]): Promise<void> {
  for (const { broken } of faults) await stand.type(`set -e\n${broken}`);
}

function commandOf({ name }: Fault, printed: ReadonlyMap<string, Printed>): string {
  const advice = printed.get(name)?.advice ?? '';
  const command = commandIn(advice);
  assert.ok(command !== undefined, `${name}: no command ends ${JSON.stringify(advice)}`);
  return command;
}

async function editValues(stand: AdviceStand, faults: readonly Fault[]): Promise<void> {
  for (const { values } of faults) {
    if (values === undefined) continue;
    await stand.type(`set -e\njq '${values}' values.yaml >values.new\nmv values.new values.yaml`);
  }
}

async function type(stand: AdviceStand, command: string, edited?: string): Promise<void> {
  if (edited === undefined) {
    await stand.type(command);
    return;
  }
  stand.shell.writeProgram('editor', `exec sed -i -e '${edited}' "$1"`);
  await stand.type(`export KUBE_EDITOR=editor\n${command}`);
}

/** Resolves with what is printed of each once all are named, by their names. */
export function allNamed(
  stand: AdviceStand,
  faults: readonly Fault[],
): Promise<ReadonlyMap<string, Printed>> {
  return asking(stand, faults, 'each is named', (found) => {
    const missing = faults.filter(({ name }) => !found.has(name));
    return missing.map(({ name }) => `${name} is not named`);
  });
}

function noneNamed(stand: AdviceStand, faults: readonly Fault[]): Promise<unknown> {
  return asking(stand, faults, 'none is named any longer', (found) =>
    [...found].map(([name, { line }]) => `${name} is named: ${line}`),
  );
}

/** Asks until `wrong` finds nothing in what is printed of the faults. */
function asking(
  stand: AdviceStand,
  faults: readonly Fault[],
  what: string,
  wrong: (found: ReadonlyMap<string, Printed>) => readonly string[],
): Promise<ReadonlyMap<string, Printed>> {
  return until(`of ${faults.map(({ name }) => name).join(', ')} ${what}`, WAIT_MS, async () => {
    await stand.follow();
    const found = new Map<string, Printed>();
    const all: Printed[] = [];
    for (const asked of new Set(faults.map((each) => each.asked))) {
      const printed = await printedBy(stand.shell, asked);
      all.push(...printed);
      for (const { name, named } of faults.filter((each) => each.asked === asked)) {
        const line = printed.find((each) => named?.test(each.line));
        if (line !== undefined) found.set(name, line);
      }
    }
    const left = wrong(found);
    if (left.length === 0) return found;
    throw new Error([...left, 'printed:', ...all.map(({ line }) => line)].join('\n'));
  });
}

/**
 * Resolves once `check` prints no line and what is to be right is; once more after what was made
 * for the faults is gone.
 */
export async function allHealed(stand: AdviceStand, faults: readonly Fault[]): Promise<void> {
  await nothingWrong(stand, faults);
  const cleared = faults.flatMap((each) => each.cleared ?? []);
  if (cleared.length === 0) return;
  await stand.type(cleared.join(' && '));
  await nothingWrong(stand, []);
}

function nothingWrong(stand: AdviceStand, faults: readonly Fault[]): Promise<unknown> {
  return until('nothing is wrong', WAIT_MS, async () => {
    await stand.follow();
    for (const { right } of faults) if (right !== undefined) await stand.type(right);
    const left = await printedBy(stand.shell);
    if (left.length === 0) return true;
    throw new Error(`printed:\n${left.map(({ line }) => line).join('\n')}`);
  });
}
