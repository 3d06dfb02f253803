// SPDX-License-Identifier: Apache-2.0
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parse } from 'yaml';
import type { Kind } from '#conformance/case.ts';
import { profileOf } from '#conformance/known-signers.ts';
import { readProfile } from '#conformance/profile.ts';
import { junitReport } from '#conformance/report/junit.ts';
import { isConformant, jsonReport, type Report } from '#conformance/report/report.ts';
import { leftLines, textReport } from '#conformance/report/text.ts';
import type { Output } from '#operations/report.ts';
import { structuredText } from '#operations/structured-text.ts';
import { createClient, type Client } from '#kube/client/client.ts';
import { resendingClient } from '#kube/client/resend.ts';
import { EVALUATE } from '#conformance/runner/index.ts';
import { trackCreatedObjects } from '#conformance/runner/created-objects.ts';
import { createPermissions } from '#conformance/runner/permissions.ts';
import type { Run } from '#conformance/runner/run.ts';
import { printDocument, printProgress, printText } from '#cli/terminal.ts';
import { connectUser } from '#cli/user-client.ts';
import type { UserOptions } from '#cli/user-options.ts';
import { VERSION } from '#app/version.ts';
import { delay, monotonic } from '#app/process.ts';

/** Flags of `countersign conformance`. */
export interface ConformanceOptions extends UserOptions {
  readonly signer: string;
  readonly kind: Kind;
  readonly profile?: string;
  readonly anchors?: string;
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly image: string;
  readonly output: Output | 'junit';
  /** Seconds. */
  readonly timeout: number;
  readonly quiet: number;
}

const RENDER: Readonly<Record<ConformanceOptions['output'], (report: Report) => string>> = {
  text: textReport,
  json: jsonReport,
  // Parse the JSON, so that YAML has the same fields.
  yaml: (report) => structuredText(JSON.parse(jsonReport(report)), 'yaml'),
  junit: junitReport,
};

const EXIT_NOT_CONFORMANT = 3;
const EXIT_LEFT = 4;

/**
 * Runs `countersign conformance`. It always removes the objects that it created.
 *
 * @returns the exit code
 * @throws SignerError if no test could run
 */
export async function conformance(options: ConformanceOptions): Promise<number> {
  const interrupt = new AbortController();
  const stop = (): void => interrupt.abort(interrupted());
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, stop);
  const { client: direct, connection } = await connectUser(options, 'conformance');
  const client = patient(direct, interrupt.signal);
  // An interruption ends no wait of the deletions.
  const deleting = patient(direct);
  const clock = Date.now;
  try {
    const kit = await kitOf(options, { client, deleting, connection }, interrupt.signal);
    const begun = clock();
    const results = await EVALUATE[options.kind](kit).catch(async (error: unknown) => {
      const { left } = await kit.created.deleteAll();
      for (const line of leftLines(left)) printProgress(line);
      // Report an interruption as such, whatever the pending call reports.
      throw interrupt.signal.aborted ? interrupted() : error;
    });
    const { removed, left } = await kit.created.deleteAll();
    const report: Report = {
      signer: options.signer,
      kind: options.kind,
      begun: new Date(begun).toISOString(),
      seconds: Math.round((clock() - begun) / 100) / 10,
      results,
      removed,
      left,
    };
    const { output } = options;
    const print = output === 'json' || output === 'yaml' ? printDocument : printText;
    print(RENDER[options.output](report));
    if (!isConformant(report)) return EXIT_NOT_CONFORMANT;
    return left.length > 0 ? EXIT_LEFT : 0;
  } finally {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, stop);
    await client.close();
  }
}

/** Longest wait for an API server that throttles the runner. */
const LONGEST_THROTTLE_MS = 30_000;

/** A 429 is about the load of the API server, and shows nothing of the signer. */
function patient(client: Client, signal?: AbortSignal): Client {
  return resendingClient(client, { delay, signal, maxWaitMs: LONGEST_THROTTLE_MS });
}

function interrupted(): Error {
  return new Error('interrupted; what was made is removed');
}

async function kitOf(
  options: ConformanceOptions,
  { client, deleting, connection }: Pick<Run, 'client' | 'connection'> & { deleting: Client },
  signal: AbortSignal,
): Promise<Run> {
  const run = randomBytes(3).toString('hex');
  const userAgent = `countersign-conformance/${VERSION}`;
  const base = profileOf(options.signer);
  const profile =
    options.profile === undefined
      ? base
      : readProfile(parse(await readFile(options.profile, 'utf8')), base);
  const anchors =
    options.anchors === undefined
      ? undefined
      : { pem: await readFile(options.anchors, 'utf8'), from: options.anchors };
  return {
    client,
    connection,
    clientAs: (user, groups) =>
      patient(
        createClient({
          connection,
          clock: Date.now,
          monotonic,
          userAgent,
          impersonate: { user, groups },
        }),
        signal,
      ),
    clientWith: (other) =>
      patient(createClient({ connection: other, clock: Date.now, monotonic, userAgent }), signal),
    signerName: options.signer,
    profile,
    anchors,
    id: run,
    namespace: options.namespace,
    serviceAccount: options.serviceAccount,
    image: options.image,
    clock: Date.now,
    delay,
    random: (size) => randomBytes(size),
    signal,
    timeoutMs: options.timeout * 1000,
    quietMs: options.quiet * 1000,
    permissions: createPermissions(client),
    created: trackCreatedObjects(client, run, deleting),
    progress: printProgress,
  };
}
