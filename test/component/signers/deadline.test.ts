// SPDX-License-Identifier: Apache-2.0
/**
 * The laws of the deadline, on clocks that stand still. watchdog.test.ts has what V8 really ends.
 */
import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';
import type { ClusterSigner } from '#api/signer/cluster-signer.ts';
import { compileExpression } from '#cel/compile.ts';
import { POD } from '../../support/cel/pod-environment.ts';
import { SignerError } from '#base/errors.ts';
import { NO_DEADLINE, type Deadline } from '#base/ports.ts';
import { chargeSlice } from '#component/signers/cpu-slice.ts';
import { answer, asking, ofNewNamespace, putOffOf } from '../../support/requests/asking-signers.ts';
import { ENDLESS_MS, startFakeThread } from '../../support/requests/fake-thread.ts';
import { workload } from '../../support/signers/workload-profile.ts';

/** What is promised, in milliseconds of the thread's own time. */
const PROMISED_MS = 20;

test('an expression that exceeds three turns fails, and the error names the field', async (t) => {
  const thread = await startFakeThread(t);
  const before = thread.used();
  const run = (deadline: Deadline): void => {
    deadline.evaluate('spec.pods.allow', () => {
      thread.work(ENDLESS_MS);
    });
  };
  await assert.rejects(answer(run, ofNewNamespace()), {
    code: 'CEL_EVALUATION',
    disposition: 'wait',
    message: /^spec\.pods\.allow: exceeded the 13 ms limit/,
  });
  assert.equal(thread.used() - before, 39);
  assert.deepEqual(thread.watches, [13, 13, 13]);
});

test('cold code that is ended once is started again, and completes', async (t) => {
  const thread = await startFakeThread(t);
  const times = [40, 3];
  const run = (deadline: Deadline): string =>
    deadline.evaluate('here', () => {
      thread.work(times.shift() ?? 0);
      return 'fine';
    });
  assert.equal(await answer(run, ofNewNamespace()), 'fine');
});

test('serves others every 20 ms, however many Signers and namespaces are at work', async (t) => {
  const thread = await startFakeThread(t);
  const state = { isDone: false };
  const greedy = Array.from({ length: 6 }, (_, index) => {
    const signer = ofNewNamespace();
    const step = index % 2 === 0 ? 'compile' : 'evaluate';
    const run = (deadline: Deadline): unknown =>
      deadline[step]('spec.pods.allow', () => {
        thread.work(ENDLESS_MS);
      });
    return assert.rejects(answer(run, signer), SignerError);
  });
  const all = Promise.all(greedy).finally(() => {
    state.isDone = true;
  });
  const looks = [thread.used()];
  while (!state.isDone) {
    await nextTurn();
    looks.push(thread.used());
  }
  await all;
  // Sockets are looked at somewhere between two ticks: two spans in a row are what a turn may take.
  const turns = looks.slice(2).map((used, index) => used - (looks[index] ?? used));
  assert.ok(Math.max(...turns) <= PROMISED_MS, `the event loop was held for ${turns.join()} ms`);
  assert.equal(thread.used() - (looks[0] ?? 0), 6 * 39);
});

test('parts that together take many turns are compiled in as many, each of them once', async (t) => {
  const thread = await startFakeThread(t);
  const names = Array.from({ length: 400 }, (_, index) => `spec.parts[${index}]`);
  const made: string[] = [];
  const compile = (deadline: Deadline): readonly string[] =>
    names.map((part) =>
      deadline.compile(part, () => {
        thread.work(2);
        made.push(part);
        return part;
      }),
    );
  assert.deepEqual(await answer(compile, workload()), names);
  assert.deepEqual(made, names);
});

test('refuses a spec that compiled too slowly for five minutes, or until it changes', async (t) => {
  const thread = await startFakeThread(t);
  let begun = 0;
  let completed = 0;
  let took = ENDLESS_MS;
  const signer = ofNewNamespace();
  const ask = asking((deadline) => {
    deadline.compile('spec.pods.allow', () => {
      begun += 1;
      thread.work(took);
    });
    completed += 1;
    return () => undefined;
  }, signer);
  const refused = { code: 'CEL_COST', disposition: 'wait', message: /^spec\.pods\.allow: / };
  const begunBy = async (of: ClusterSigner): Promise<number> => {
    const before = begun;
    await assert.rejects(ask(of), refused);
    return begun - before;
  };
  assert.equal(await begunBy(signer), 3);
  assert.equal(await begunBy(signer), 0);
  thread.sleep(5 * 60_000 - 1);
  assert.equal(await begunBy(signer), 0);
  thread.sleep(1);
  assert.equal(await begunBy(signer), 3);
  const changed = { ...signer, metadata: { ...signer.metadata, generation: 2 } };
  assert.equal(await begunBy(changed), 3);
  thread.sleep(5 * 60_000);
  took = 1;
  for (let time = 0; time < 3; time += 1) await ask(changed);
  assert.equal(completed, 1);
});

test('compiles nothing in the rest of a half used turn, since it would compile twice', async (t) => {
  const thread = await startFakeThread(t);
  let begun = 0;
  const run = (deadline: Deadline): void => {
    deadline.compile('spec.pods.allow', () => {
      begun += 1;
      thread.work(8);
    });
  };
  chargeSlice(8);
  await answer(run, ofNewNamespace());
  assert.equal(begun, 1);
});

test('what was ended while it was evaluated is compiled again', async (t) => {
  const thread = await startFakeThread(t);
  const compiled: string[] = [];
  let took = ENDLESS_MS;
  const ask = asking((deadline) => {
    const value = deadline.compile('here', () => compiled.push('here'));
    return () =>
      deadline.evaluate('here', () => {
        thread.work(took);
        return value;
      });
  }, ofNewNamespace());
  await assert.rejects(ask(), SignerError);
  took = 1;
  const before = compiled.length;
  assert.equal(await ask(), before + 1);
  assert.equal(await ask(), before + 1);
});

test('an error of the work itself passes through', async (t) => {
  await startFakeThread(t);
  const failure = new SignerError({ code: 'CEL_INVALID', disposition: 'wait', message: 'no' });
  const run = (deadline: Deadline): void => {
    deadline.evaluate('here', () => {
      throw failure;
    });
  };
  await assert.rejects(answer(run, ofNewNamespace()), (thrown) => thrown === failure);
});

test('watches a namespace’s decision once, and an administrator’s only if it is dear', async (t) => {
  const thread = await startFakeThread(t);
  const watchesOf = async (signer: ClusterSigner, cost: number): Promise<number> => {
    const before = thread.watches.length;
    const run = (deadline: Deadline): unknown =>
      deadline.together('spec.requests', cost, () => [
        deadline.evaluate('spec.requests.rules[0].when', () => true),
        deadline.evaluate('spec.requests.rules[1].when', () => true),
      ]);
    assert.deepEqual(await answer(run, signer), [true, true]);
    return thread.watches.length - before;
  };
  assert.equal(await watchesOf(ofNewNamespace(), 1), 1);
  assert.equal(await watchesOf(workload(), 300_000), 0);
  assert.equal(await watchesOf(workload(), 300_001), 1);
});

test('ends the administrator’s expressions where they are dear, and on compilation', async (t) => {
  const thread = await startFakeThread(t);
  const endless = (): void => {
    thread.work(ENDLESS_MS);
  };
  const dear = (deadline: Deadline): void => {
    deadline.together('spec.requests', 5_000_000, () => {
      deadline.evaluate('spec.here', endless);
    });
  };
  const failed = { code: 'CEL_EVALUATION', message: /^spec\.here: / };
  await assert.rejects(answer(dear, workload()), failed);
  const compiling = (deadline: Deadline): void => {
    deadline.compile('spec.there', endless);
  };
  await assert.rejects(answer(compiling, workload()), {
    code: 'CEL_COST',
    message: /^spec\.there: /,
  });
});

test('an idle thread is no fault of the spec: after ten tries the work is deferred', async (t) => {
  const thread = await startFakeThread(t);
  let begun = 0;
  const run = (deadline: Deadline): void => {
    deadline.compile('spec.pods.allow', () => {
      begun += 1;
      thread.sleep(ENDLESS_MS);
    });
  };
  const { reason, waitMs, message } = await putOffOf(() => answer(run, ofNewNamespace()));
  assert.deepEqual([begun, reason, waitMs], [10, 'CelThrottled', 250]);
  assert.match(message, /^spec\.pods\.allow: /);
});

test('turns used up by others are no fault of the spec: after fifty, work is deferred', async (t) => {
  await startFakeThread(t);
  const state = { isDone: false, begun: 0 };
  const run = (deadline: Deadline): void => {
    deadline.evaluate('spec.pods.allow', () => (state.begun += 1));
  };
  chargeSlice(13);
  const waiting = putOffOf(() => answer(run, ofNewNamespace())).finally(() => {
    state.isDone = true;
  });
  let turns = 0;
  while (!state.isDone) {
    await nextTurn();
    chargeSlice(13);
    turns += 1;
  }
  const { reason } = await waiting;
  assert.deepEqual([state.begun, reason], [0, 'CelThrottled']);
  assert.ok(turns >= 49 && turns <= 52, `${turns} turns`);
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
