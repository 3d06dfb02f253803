// SPDX-License-Identifier: Apache-2.0
import { Dice } from '../../oracle/dice.ts';
import { parseScript } from './parse.ts';
import type { Fault, Rule, Verb, When } from './rule.ts';
import type { Tally } from './tally.ts';

/** Something that happens at the proxy, to which rules are put. */
export interface Moment {
  readonly client: string;
  /** Of a call or line also what it is a kind of: PUT and ANY, ADDED and LINE. */
  readonly verbs: readonly Verb[];
  readonly path: string;
}

/** The rules in force, with what they have counted. */
export interface Script {
  /** Replaces the rules; the counts start at zero. */
  set(text: string): void;
  /** The faults that strike now, in order: delays, and then at most one other. They are counted. */
  strike(moment: Moment): readonly Fault[];
  /** A number between both, of the same dice. */
  between(least: number, most: number): number;
}

interface Counted {
  readonly rule: Rule;
  seen: number;
}

/** @param seed - the same seed makes the same dice; what they are thrown for depends on timing */
export function createScript(seed: number, tally: Tally): Script {
  const dice = new Dice(seed);
  let rules: readonly Counted[] = [];

  function fires(counted: Counted): boolean {
    counted.seen += 1;
    return strikes(counted.rule.when, counted.seen, dice);
  }

  return {
    set: (text) => {
      rules = parseScript(text).map((rule) => ({ rule, seen: 0 }));
    },
    strike: (moment) => {
      const faults: Fault[] = [];
      for (const counted of rules) {
        const { rule } = counted;
        if (!concerns(rule, moment) || !fires(counted)) continue;
        tally.injected(rule, moment);
        faults.push(rule.fault);
        if (rule.fault.kind !== 'delay') break;
      }
      return faults;
    },
    between: (least, most) => least + dice.roll(most - least + 1),
  };
}

function concerns({ client, verb, path }: Rule, moment: Moment): boolean {
  return (
    (client === '*' || client === moment.client) &&
    moment.verbs.includes(verb) &&
    path.test(moment.path)
  );
}

/** Dice are fine enough for one in a million. */
const SIDES = 1_000_000;

function strikes(when: When, seen: number, dice: Dice): boolean {
  switch (when.kind) {
    case 'always':
      return true;
    case 'nth':
      return seen === when.count;
    case 'every':
      return seen % when.count === 0;
    case 'first':
      return seen <= when.count;
    case 'chance':
      return dice.roll(SIDES) < when.probability * SIDES;
  }
}
