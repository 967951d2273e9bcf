import type { RedisClient } from './redis-connection.ts';

/**
 * The value of a claim is `p<owner>` while the claim is pending and `c<owner>` when it is confirmed. Redis runs each script of this file as one
 * atomic step. In a cluster, all keys of a call are in one slot.
 */
const CLAIM = `
local out = {}
for i, key in ipairs(KEYS) do
  local mine = 'p' .. ARGV[i + 1]
  local held = redis.call('GET', key)
  if not held or held == mine then
    redis.call('SET', key, mine, 'PX', ARGV[1])
    out[i] = 'claimed'
  elseif string.sub(held, 1, 1) == 'c' then
    out[i] = 'confirmed'
  else
    out[i] = 'pending'
  end
end
return out`;

const CONFIRM = `
for i, key in ipairs(KEYS) do
  local owner = ARGV[i + 1]
  local held = redis.call('GET', key)
  if not held or held == 'p' .. owner then redis.call('SET', key, 'c' .. owner, 'PX', ARGV[1]) end
end
return 0`;

const RELEASE = `
for i, key in ipairs(KEYS) do
  if redis.call('GET', key) == 'p' .. ARGV[i] then redis.call('DEL', key) end
end
return 0`;

/**
 * The record of an epoch (redis-epochs.ts) is `<epoch> <master_replid>`. The master_replid of a server changes when the server
 * starts, is promoted, or copies the content of another server. So if the record contains another master_replid than the server has, the content
 * may be an older copy. Reading the master_replid takes 5 µs (Redis 7.0).
 */
const SERVER = `
local function server()
  return string.match(redis.call('INFO', 'replication'), 'master_replid:(%w+)') or ''
end`;

/**
 * The beginning of a script that must return `null` if the epoch is over. KEYS[1]: the record of the epoch, or in a cluster the mark of the site's
 * server (redis-epochs.ts). ARGV[1]: the epoch. If ARGV[1] is empty, there is no check.
 */
const WITHIN_EPOCH = `${SERVER}
if ARGV[1] ~= '' and redis.call('GET', KEYS[1]) ~= ARGV[1] .. ' ' .. server() then return false end`;

/**
 * KEYS: the record of the epoch, then one key per partition, whose value is the epoch to which the partition has checked in (docs/glossary.md).
 * ARGV: the ID for a new epoch. Returns the present epoch, then the numbers of the partitions that have checked in to it.
 */
const READ_EPOCH = `${SERVER}
local here = server()
local epoch, at = string.match(redis.call('GET', KEYS[1]) or '', '^(%S+) (%S*)$')
if not epoch or at ~= here then
  epoch = ARGV[1]
  redis.call('SET', KEYS[1], epoch .. ' ' .. here)
end
local out = { epoch }
for i = 2, #KEYS do
  if redis.call('GET', KEYS[i]) == epoch then out[#out + 1] = tostring(i - 2) end
end
return out`;

/** KEYS: the record of the epoch, and the key for the check-in of the partition. */
const CHECK_IN = `${WITHIN_EPOCH}
redis.call('SET', KEYS[2], ARGV[1])
return 1`;

const END_EPOCH = `
if string.match(redis.call('GET', KEYS[1]) or '', '^%S+') == ARGV[1] then redis.call('DEL', KEYS[1]) end
return 1`;

/** For a cluster (redis-epochs.ts). KEYS: the record of the epoch, and the flag that a client has begun to write the mark of the site's server. */
const CLAIM_MARK = `${WITHIN_EPOCH}
if redis.call('GET', KEYS[2]) == ARGV[1] then return 'marked' end
redis.call('SET', KEYS[2], ARGV[1])
return 'new'`;

const MARK = `${SERVER}
redis.call('SET', KEYS[1], ARGV[1] .. ' ' .. server())
return 1`;

/**
 * Each Redis key after KEYS[1] belongs to one idempotency key. Its value lists the first record of each window with this key, at most eight:
 * `<record> <received_at> <record> …`. Earlier windows stay in the list because an old record can be processed again, and must get the same result.
 * ARGV: epoch, window, time to live, then received_at and record for each key.
 */
const INSERT_FIRST_SEEN = `${WITHIN_EPOCH}
local out = {}
for i = 1, #KEYS - 1 do
  local key, at, holder = KEYS[i + 1], tonumber(ARGV[2 * i + 2]), ARGV[2 * i + 3]
  local held, first, self = {}, nil, nil
  for h, t in string.gmatch(redis.call('GET', key) or '', '(%S+) (%S+)') do
    local one = { h, t }
    held[#held + 1] = one
    if h == holder then self = one end
    if not first and (h == holder or math.abs(tonumber(t) - at) < tonumber(ARGV[2])) then first = one end
  end
  local answer = first and (self or first)
  if not answer then
    answer = { holder, ARGV[2 * i + 2] }
    held[#held + 1] = answer
    local words = {}
    for n = math.max(1, #held - 7), #held do words[#words + 1] = held[n][1] .. ' ' .. held[n][2] end
    redis.call('SET', key, table.concat(words, ' '), 'PX', ARGV[3])
  end
  out[i] = answer[1] .. ' ' .. answer[2]
end
return out`;

/** Has the same arguments as INSERT_FIRST_SEEN. The new record replaces all listed records within its window. */
const OVERWRITE_FIRST_SEEN = `${WITHIN_EPOCH}
for i = 1, #KEYS - 1 do
  local key, at, holder = KEYS[i + 1], tonumber(ARGV[2 * i + 2]), ARGV[2 * i + 3]
  local held = { { holder, ARGV[2 * i + 2] } }
  for h, t in string.gmatch(redis.call('GET', key) or '', '(%S+) (%S+)') do
    if h ~= holder and math.abs(tonumber(t) - at) >= tonumber(ARGV[2]) then held[#held + 1] = { h, t } end
  end
  table.sort(held, function(a, b) return tonumber(a[2]) < tonumber(b[2]) end)
  local words = {}
  for n = math.max(1, #held - 7), #held do words[#words + 1] = held[n][1] .. ' ' .. held[n][2] end
  redis.call('SET', key, table.concat(words, ' '), 'PX', ARGV[3])
end
return 1`;

/** The maximum length of a list of epochs (redis-epochs.ts): enough for 1,000 epochs. The oldest epochs are removed from a longer list. */
const EPOCHS_CHARS_MAX = 37_000;

/**
 * KEYS: the record of the epoch (in a cluster the list of epochs of the partition), the key of the applied offset, then the keys of the values.
 * ARGV: epoch (in a cluster empty: no check), from, to, time to live of the offset, the epoch to add to the list (empty: there is no list), then time
 * to live and value for each key. A time to live of 0 removes the key. Returns the offset that is stored afterwards.
 */
const WRITE_STATE = `${WITHIN_EPOCH}
local at = tonumber(redis.call('GET', KEYS[2]) or '0')
local to = tonumber(ARGV[3])
if at < tonumber(ARGV[2]) or at >= to then return at end
if ARGV[5] ~= '' then
  local epochs = redis.call('GET', KEYS[1]) or ''
  if not string.find(epochs, ARGV[5], 1, true) then
    redis.call('SET', KEYS[1], string.sub(epochs .. ARGV[5] .. ' ', -${EPOCHS_CHARS_MAX}))
  end
end
for i = 3, #KEYS do
  if ARGV[2 * i] == '0' then redis.call('DEL', KEYS[i])
  else redis.call('SET', KEYS[i], ARGV[2 * i + 1], 'PX', ARGV[2 * i]) end
end
redis.call('SET', KEYS[2], ARGV[3], 'PX', ARGV[4])
return to`;

type Script<Result> = (keyCount: number, ...keysAndArguments: (string | number)[]) => Promise<Result>;

export interface RedisScripts {
  weirClaim: Script<('claimed' | 'pending' | 'confirmed')[]>;
  weirConfirm: Script<number>;
  weirRelease: Script<number>;
  /** Here and below, the result `null` means that the epoch is over. */
  weirInsertFirstSeen: Script<string[] | null>;
  weirOverwriteFirstSeen: Script<1 | null>;
  weirWriteState: Script<number | null>;
  weirReadEpoch: Script<[string, ...string[]]>;
  weirCheckIn: Script<1 | null>;
  weirEndEpoch: Script<1>;
  weirClaimMark: Script<'new' | 'marked' | null>;
  weirMark: Script<1>;
}

/** Adds Weir's scripts as commands. ioredis sends the text of a script only if the server does not have it yet. */
export function withScripts(client: RedisClient): RedisClient & RedisScripts {
  client.defineCommand('weirClaim', { lua: CLAIM });
  client.defineCommand('weirConfirm', { lua: CONFIRM });
  client.defineCommand('weirRelease', { lua: RELEASE });
  client.defineCommand('weirInsertFirstSeen', { lua: INSERT_FIRST_SEEN });
  client.defineCommand('weirOverwriteFirstSeen', { lua: OVERWRITE_FIRST_SEEN });
  client.defineCommand('weirWriteState', { lua: WRITE_STATE });
  client.defineCommand('weirReadEpoch', { lua: READ_EPOCH });
  client.defineCommand('weirCheckIn', { lua: CHECK_IN });
  client.defineCommand('weirEndEpoch', { lua: END_EPOCH });
  client.defineCommand('weirClaimMark', { lua: CLAIM_MARK });
  client.defineCommand('weirMark', { lua: MARK });
  return client as RedisClient & RedisScripts;
}
