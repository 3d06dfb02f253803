// SPDX-License-Identifier: Apache-2.0
import assert from 'node:assert/strict';
import { setImmediate as nextTurn, setTimeout } from 'node:timers/promises';
import { test } from 'node:test';
import type { ClusterSigner } from '../../../src/api/signer/cluster-signer.ts';
import { compileExpression } from '../../../src/cel/compile.ts';
import { POD } from '../../../src/cel/environments.ts';
import { SignerError } from '../../../src/errors.ts';
import { NO_DEADLINE, type Deadline } from '../../../src/ports.ts';
import { compileOncePerGeneration } from '../../../src/runtime/signers/compile-cache.ts';
import { inTurns } from '../../../src/runtime/signers/in-turns.ts';
import { PutOff } from '../../../src/runtime/signers/put-off.ts';
import { teamSigner } from '../../support/signers/namespaced-signer.ts';
import { workload } from '../../support/signers/workload-profile.ts';

/** What is promised, in milliseconds of the thread's own time. */
const PROMISED_MS = 20;

function spin(milliseconds: number): void {
  const before = process.threadCpuUsage();
  for (;;) {
    const { user, system } = process.threadCpuUsage(before);
    if (user + system >= milliseconds * 1_000) return;
  }
}

/** The longest time that the thread was at work without another turn of the event loop. */
async function longestPause(work: Promise<unknown>): Promise<number> {
  let longest = 0;
  const state = { isDone: false };
  const finish = (): void => {
    state.isDone = true;
  };
  const done = work.then(finish, finish);
  while (!state.isDone) {
    const before = process.threadCpuUsage();
    await nextTurn();
    const { user, system } = process.threadCpuUsage(before);
    longest = Math.max(longest, (user + system) / 1_000);
  }
  await done;
  return longest;
}

/**
 * Does what requests do: what was given up because the machine was busy is asked again. A busy machine also
 * lets the thread that watches over us wait, so the shortest of several pauses is what is judged.
 */
const TRIALS = 30;

async function shortestPause(work: () => Promise<unknown>): Promise<number> {
  let shortest = Infinity;
  for (let trial = 0; trial < TRIALS && shortest > PROMISED_MS; trial += 1) {
    shortest = Math.min(shortest, await longestPause(work()));
  }
  return shortest;
}

async function untilCompiled<T>(work: () => Promise<T>): Promise<T> {
  for (let trial = 1; ; trial += 1) {
    try {
      return await unlessPutOff(work);
    } catch (error) {
      if (trial === TRIALS) throw error;
    }
  }
}

/** Waits as a request does where the namespace has spent its budget or the machine is busy. */
async function unlessPutOff<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof PutOff)) throw error;
      await setTimeout(error.waitMs);
    }
  }
}

/** Works until the namespace has spent its budget, however busy the machine is. */
async function untilSpent(work: () => Promise<unknown>): Promise<PutOff> {
  for (;;) {
    try {
      await work();
    } catch (error) {
      assert.ok(error instanceof PutOff, String(error));
      if (error.reason === 'CelBudgetSpent') return error;
    }
  }
}

/** A Signer of a namespace of its own: budgets are a namespace's. */
function ofNamespace(name: string): ClusterSigner {
  return teamSigner({ namespace: `team-${name}`, uid: name });
}

/** Some two milliseconds. */
function count(): number {
  let sum = 0;
  for (let i = 0; i < 2_000_000; i += 1) sum = (sum + i) | 0;
  return sum;
}

function answer<T>(run: (deadline: Deadline) => T, signer: ClusterSigner): Promise<T> {
  const get = compileOncePerGeneration((_signer: ClusterSigner, deadline) => () => run(deadline));
  return unlessPutOff(() => inTurns(() => Promise.resolve().then(() => get(signer)())));
}

/** Nothing that our code could notice: only another thread ends it. */
function forever(): never {
  for (;;);
}

test('what a namespace wrote is ended after a turn, and the error names the field', async () => {
  const work = (): Promise<never> =>
    answer((deadline) => deadline.evaluate('spec.pods.allow', forever), ofNamespace('a'));
  const pause = await shortestPause(work);
  assert.ok(pause <= PROMISED_MS, `the event loop was held for ${pause} ms`);
  await assert.rejects(work(), {
    code: 'CEL_EVALUATION',
    disposition: 'wait',
    message: /^spec\.pods\.allow: was ended after 15 ms/,
  });
});

test('a regular expression, a sort and a built-in loop are ended, too', async () => {
  const works: readonly (() => unknown)[] = [
    () => /^(a+)+$/.test(`${'a'.repeat(60)}!`),
    () => Array.from({ length: 200_000 }, (_, i) => i).sort(() => (spin(0.01), 1)),
    () =>
      'a'
        .repeat(2_000)
        .split('')
        .map(() => spin(1)),
  ];
  for (const work of works) {
    const signer = ofNamespace('b');
    await assert.rejects(
      answer((deadline) => deadline.evaluate('here', work), signer),
      { code: 'CEL_EVALUATION' },
    );
  }
});

test('code that catches and cleans up does not live on', async () => {
  const stubborn = (): void => {
    for (;;) {
      try {
        forever();
      } catch {
        // Try again.
      } finally {
        forever();
      }
    }
  };
  const work = answer((deadline) => deadline.evaluate('here', stubborn), ofNamespace('c'));
  await assert.rejects(work, { code: 'CEL_EVALUATION' });
});

test('others are served between the turns', async () => {
  const state = { served: 0, isDone: false };
  const signer = ofNamespace('d');
  const work = answer((deadline) => deadline.evaluate('here', forever), signer).catch(() => {
    state.isDone = true;
  });
  while (!state.isDone) {
    await nextTurn();
    state.served += 1;
  }
  await work;
  assert.ok(state.served >= 3, `only ${state.served}`);
});

test('parts that together take more than a turn are compiled in several, and what is done is kept', async () => {
  const names = Array.from('abcdefghijklmnopqrstuvwxyz');
  const parts: string[] = [];
  const get = compileOncePerGeneration((_signer: ClusterSigner, deadline) =>
    names.map((part) =>
      deadline.compile(part, () => {
        count();
        parts.push(part);
        return part;
      }),
    ),
  );
  const signer = ofNamespace('e');
  const ask = (): Promise<unknown> =>
    unlessPutOff(() => inTurns(() => Promise.resolve().then(() => get(signer))));
  assert.deepEqual(await untilCompiled(ask), names);
  // At most one is done twice each time that the rest is put off.
  assert.deepEqual([...new Set(parts)], names);
  assert.ok(parts.length < 2 * names.length, `${parts.length} were compiled`);
});

test('a spec that does not compile in time is refused until it changes', async () => {
  let times = 0;
  const get = compileOncePerGeneration((_signer: ClusterSigner, deadline) =>
    deadline.compile('spec.pods.allow', () => {
      times += 1;
      return forever();
    }),
  );
  const signer = ofNamespace('f');
  const refused = { code: 'CEL_COST', disposition: 'wait', message: /^spec\.pods\.allow: / };
  const ask = (): Promise<unknown> =>
    unlessPutOff(() => inTurns(() => Promise.resolve().then(() => get(signer))));
  let before = -1;
  for (let trial = 0; trial < 100 && before !== times; trial += 1) {
    before = times;
    await assert.rejects(ask(), refused);
  }
  assert.equal(before, times);
});

test('what was ended is compiled again for the next request', async () => {
  let compiled = 0;
  let isHostile = true;
  const get = compileOncePerGeneration((_signer: ClusterSigner, deadline) => {
    compiled += 1;
    return () => deadline.evaluate('here', () => (isHostile ? forever() : 'fine'));
  });
  const signer = ofNamespace('g');
  const ask = (): Promise<string> =>
    unlessPutOff(() => inTurns(() => Promise.resolve().then(() => get(signer)())));
  await assert.rejects(ask(), SignerError);
  const before = compiled;
  isHostile = false;
  assert.equal(await ask(), 'fine');
  assert.ok(compiled > before);
});

test('an error of the work itself passes through, and stacks stay as they were', async () => {
  const limit = Error.stackTraceLimit;
  const failure = new SignerError({ code: 'CEL_INVALID', disposition: 'wait', message: 'no' });
  const work = answer(
    (deadline) =>
      deadline.evaluate('here', () => {
        Error.stackTraceLimit = 0;
        throw failure;
      }),
    ofNamespace('h'),
  );
  await assert.rejects(work, (thrown) => thrown === failure);
  assert.equal(Error.stackTraceLimit, limit);
});

test('a cheap decision of the administrator is not watched, a dear one is', async () => {
  const work = (): number => {
    spin(2 * PROMISED_MS);
    return 1;
  };
  const run = (cost: number): Promise<number> =>
    answer(
      (deadline) =>
        deadline.together('spec.requests', cost, () => deadline.evaluate('spec.here', work)),
      workload(),
    );
  assert.equal(await run(1_000), 1);
  await assert.rejects(run(5_000_000), { code: 'CEL_EVALUATION', message: /^spec\.here: / });
});

test('however many Signers of however many namespaces are at work, a turn ends in time', async () => {
  const names = ['p', 'q', 'r', 's'];
  const compiled = names.map((name) => {
    const get = compileOncePerGeneration((_signer: ClusterSigner, deadline) =>
      deadline.compile('spec.pods.allow', forever),
    );
    return () => inTurns(() => Promise.resolve().then(() => get(ofNamespace(name))));
  });
  const all = (): Promise<unknown> =>
    Promise.allSettled([
      ...compiled.map((work) => work()),
      ...names.map((name) =>
        inTurns(async () => {
          await nextTurn();
          return answer((deadline) => deadline.evaluate('here', count), ofNamespace(`${name}2`));
        }),
      ),
    ]);
  const pause = await shortestPause(all);
  assert.ok(pause <= PROMISED_MS, `the event loop was held for ${pause} ms`);
});

test('a decision of many expressions is watched as one, and names the one that does not end', async () => {
  const ended: string[] = [];
  const run = (deadline: Deadline): unknown =>
    deadline.together('spec.pods', 1, () => {
      deadline.evaluate('spec.pods.allow', () => true);
      return deadline.evaluate('spec.pods.uris[0]', forever, () => ended.push('uris[0]'));
    });
  await assert.rejects(answer(run, ofNamespace('m')), {
    code: 'CEL_EVALUATION',
    message: /^spec\.pods\.uris\[0\]: /,
  });
  assert.deepEqual([...new Set(ended)], ['uris[0]']);
});

test('a thread that does not run is no fault of the spec: the work is put off', async () => {
  const flag = new Int32Array(new SharedArrayBuffer(4));
  const asleep = (): unknown => Atomics.wait(flag, 0, 0, 1_000);
  const get = compileOncePerGeneration((_signer: ClusterSigner, deadline) =>
    deadline.compile('spec.pods.allow', asleep),
  );
  const work = inTurns(() => Promise.resolve().then(() => get(ofNamespace('n'))));
  await assert.rejects(work, (error) => {
    assert.ok(error instanceof PutOff);
    return error.reason === 'CelTurnsTaken' && error.message.startsWith('spec.pods.allow: ');
  });
});

test('Signers of a namespace that has spent its budget wait, and name what spent it', async () => {
  const run = (deadline: Deadline): void => {
    deadline.evaluate('spec.pods.allow', () => {
      spin(5);
    });
  };
  const get = compileOncePerGeneration((_signer: ClusterSigner, deadline) => () => {
    run(deadline);
  });
  const work = (): Promise<void> =>
    inTurns(() => Promise.resolve().then(() => get(ofNamespace('o'))()));
  const { message, waitMs } = await untilSpent(work);
  assert.match(message, /spec\.pods\.allow of Signer team-o\/web/);
  assert.ok(waitMs > 0);
  // Others are not concerned.
  await answer(run, ofNamespace('o2'));
});

test('an expression hands its deadline what it does, with the name of its field', () => {
  const told: string[] = [];
  const deadline: Deadline = {
    compile: (where, work) => {
      told.push(`compile ${where}`);
      return work();
    },
    evaluate: (where, work) => {
      told.push(`evaluate ${where}`);
      return work();
    },
    together: NO_DEADLINE.together,
  };
  const compiled = compileExpression({
    source: 'true',
    where: 'spec.pods.allow',
    environment: POD,
    result: 'bool',
    deadline,
  });
  const pod = { namespace: '', name: '', uid: '', serviceAccount: '', serviceAccountUID: '' };
  const whole = { ...pod, node: '', nodeUID: '', annotations: {} };
  assert.equal(compiled.evaluate({ pod: whole }), true);
  assert.deepEqual(told, ['compile spec.pods.allow', 'evaluate spec.pods.allow']);
});
