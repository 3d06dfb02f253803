// SPDX-License-Identifier: Apache-2.0
/**
 * Protobuf as an API server, or who is between it and us, sends it: frames of a watch, answers,
 * statuses.
 */
import { createMessages } from '../../../bench/path/messages.ts';
import {
  UNLESS_ANSWERED,
  podStatusBody,
  readPodCertificateRequest,
} from '#api/request/pod-certificate-request-message.ts';
import { SignerError } from '#base/errors.ts';
import { KubeError } from '#kube/client/kube-error.ts';
import { readWatchMessage } from '#kube/watch/watch-message.ts';
import { openEnvelope } from '#kube/protobuf/envelope.ts';
import type { Target } from '../engine.ts';

const messages = createMessages(3);
/** Before a frame stands its length. */
const LENGTH_OCTETS = 4;
const FRAMES = [
  messages.frame('ADDED', 0, 7),
  messages.frame('MODIFIED', 1, 8),
  messages.bookmark(9, true),
  messages.bookmark(10, false),
].map((frame) => frame.subarray(LENGTH_OCTETS));

const isExpected = (error: unknown): boolean =>
  error instanceof SyntaxError || error instanceof KubeError || error instanceof SignerError;

const WORDS = [
  'k8s\0',
  'certificates.k8s.io/v1',
  'PodCertificateRequest',
  'BOOKMARK',
  'ERROR',
  'DELETED',
  'k8s.io/initial-events-end',
];

/** A whole frame: event, envelope, object. */
export const watchFrame: Target = {
  name: 'watch-frame',
  seeds: FRAMES,
  words: WORDS,
  maxBytes: 8192,
  isExpected,
  run: (input) => {
    readWatchMessage(input, (type, raw) => readPodCertificateRequest(type, raw, UNLESS_ANSWERED));
  },
};

/** The object alone, read whole and written back. */
export const watchBytes: Target = {
  name: 'protobuf',
  seeds: [messages.metadataAlone(0, 7), ...FRAMES.slice(0, 2).map(objectOf)],
  words: WORDS,
  maxBytes: 8192,
  isExpected,
  run: (input) => {
    const { type, raw } = openEnvelope(input);
    const object = readPodCertificateRequest(type, raw);
    if (object.status !== undefined) podStatusBody(object);
  },
};

/** From the envelope's magic on. */
function objectOf(frame: Uint8Array): Uint8Array {
  const at = Buffer.from(frame).indexOf('k8s\0');
  return frame.subarray(at);
}
