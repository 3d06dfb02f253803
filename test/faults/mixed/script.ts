// SPDX-License-Identifier: Apache-2.0

/**
 * What the long run does to the traffic, all at once. A broken watch is a second in which nothing
 * is heard and a 410 is a new list of everything, so those are rare; calls fail often.
 */
export const MIXED = `
  * CONNECT *                            chance 0.01    delay 10ms-200ms
  * CONNECT *                            chance 0.005   cut
  * ANY     *                            chance 0.02    delay 5ms-100ms

  * PUT     *                            chance 0.01    swallow
  * PUT     *                            chance 0.005   cut
  * PUT     *                            chance 0.005   truncate
  * PUT     *                            chance 0.01    answer 429 retry-after 1
  * PUT     *                            chance 0.005   answer 401
  * PUT     *                            chance 0.004   answer 500
  * PUT     *                            chance 0.004   answer 502
  * PUT     *                            chance 0.004   answer 503
  * PUT     *                            chance 0.004   answer 504
  * PUT     *                            chance 0.0002  mute
  * PUT     *                            chance 0.0002  silence
  * GET     *                            chance 0.02    cut
  * GET     *                            chance 0.02    answer 503
  * POST    *                            chance 0.05    answer 500

  * RESUME  *                            chance 0.03    answer 410
  * WATCH   *                            chance 0.05    answer 429 retry-after 1
  * WATCH   *                            chance 0.05    answer 503
  * WATCH   *                            chance 0.05    cut

  * LINE    *                            chance 0.0002  cut
  * LINE    *                            chance 0.0001  truncate
  * LINE    *                            chance 0.0001  garble
  * LINE    *                            chance 0.00005 answer 410
  * LINE    *                            chance 0.0001  answer 500
  * LINE    *                            chance 0.001   duplicate
  * LINE    *                            chance 0.0005  reorder
  * LINE    *                            chance 0.001   delay 10ms-500ms
  * LINE    *                            chance 0.00005 drop
  * LINE    *                            nth 4000       silence
  * LINE    *                            nth 9000       slow
  * BOOKMARK *                           chance 0.3     drop
`;

/** After the storm: every watch starts again with a list, which brings what was dropped. */
export const NEW_LISTS = '* RESUME * answer 410';
