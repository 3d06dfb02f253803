// SPDX-License-Identifier: Apache-2.0
/**
 * `make bench-start`: a cluster with 50,000 finished PodCertificateRequests and one pending; from
 * the start of our pcr-issuer to the certificate of that one, against a bare watch-list of the same
 * objects. ARGS: `--objects 50000 --rounds 5`.
 */
import { join } from 'node:path';
import {
  UNLESS_ANSWERED,
  readPodCertificateRequest,
} from '#api/request/pod-certificate-request-message.ts';
import { watchMediaTypes } from '#kube/watch/watch-decoder.ts';
import type { Program } from '../cluster/contender.ts';
import { WORKLOAD, countersign } from '../cluster/ours.ts';
import { createPeer } from '../cluster/peer.ts';
import { startBenchCluster } from '../cluster/start.ts';
import { readArguments } from '../measure/arguments.ts';
import { endOnSignals } from '../measure/end-on-signals.ts';
import { readMachine } from '../measure/machine.ts';
import { medianRatio, medians } from '../measure/ratios.ts';
import { writeResults } from '../measure/results.ts';
import { runRounds } from '../measure/rounds.ts';
import { printRatios } from '../measure/table.ts';
import { isDisturbed } from '../measure/undisturbed.ts';
import { createBacklog, newStubs, repeated } from '../requests/backlog.ts';
import { finish } from '../requests/finish.ts';
import { startList, startOurs } from './measure-start.ts';

const { objects, rounds, results } = readArguments({
  objects: { default: 50_000, least: 1 },
  rounds: { default: 5, least: 1 },
});
/** Different keys among the finished ones. */
const STUBS = 1_000;
const { signerName } = WORKLOAD;

endOnSignals();
const bench = await startBenchCluster(console.log);
try {
  const stubs = newStubs(Math.min(objects, STUBS));
  const [stub = ''] = stubs;
  console.log(`creating ${objects} finished requests`);
  const backlog = await createBacklog(bench, signerName, repeated(stubs, objects));
  try {
    await finish(bench, signerName);
    const ours = await countersign(bench.cluster, 'pcr-issuer');
    const kubeconfig = await createPeer(bench.cluster, { name: 'list', signerName });
    const script = join(import.meta.dirname, 'watch-list.ts');
    const list = (accept: string): Program => ({
      name: 'watch-list',
      command: [process.execPath, script, kubeconfig, signerName, accept],
    });
    const inProtobuf = list(
      watchMediaTypes((type, raw) => readPodCertificateRequest(type, raw, UNLESS_ANSWERED)),
    );
    const inJson = list('application/json');
    // Lists come in the order of names: the backlog's begin with `workload-`.
    const contenders = [
      { name: 'pending-last', measure: () => startOurs(bench, ours, { name: 'z-pending', stub }) },
      { name: 'pending-first', measure: () => startOurs(bench, ours, { name: 'a-pending', stub }) },
      { name: 'watch-list', measure: () => startList(bench, inProtobuf) },
      { name: 'watch-list-json', measure: () => startList(bench, inJson) },
    ];
    // Not counted: the first list after a change fills caches of the API server.
    for (const { measure } of contenders) await measure();
    const starts = await runRounds(contenders, rounds);
    const seconds = (name: string): number[] =>
      (starts.get(name) ?? []).map((each) => each.seconds);
    const ratios = {
      first_signature_vs_list: medianRatio(seconds('pending-last'), seconds('watch-list')),
      first_signature_vs_list_when_first: medianRatio(
        seconds('pending-first'),
        seconds('watch-list'),
      ),
      first_signature_vs_json_list: medianRatio(
        seconds('pending-last'),
        seconds('watch-list-json'),
      ),
    };
    printRatios(ratios);
    writeResults(results, 'start', {
      ratios,
      figures: {
        objects,
        rounds,
        disturbed: [...starts.values()].flat().filter(isDisturbed).length,
        ...Object.fromEntries([...starts].map(([name, of]) => [name, medians(of)])),
      },
      machine: readMachine(bench.kubernetes),
    });
  } finally {
    await backlog.remove();
  }
} finally {
  await bench.stop();
}
