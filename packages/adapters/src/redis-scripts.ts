import type { RedisClient } from './redis-connection.ts';

/**
 * Claims: `p<owner>` while a request is under way, `c<owner>` once its record is stored. Every script gets keys of one slot.
 * Claims, releases and confirmations run on the server, so that nothing happens between a look and a write.
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
 * Holders of one key whose windows don't overlap, oldest first, as `<holder> <received_at> <holder> …`; the older ones are kept
 * so that repeating old records gives old answers. ARGV: window, time to live, then received_at and holder for each key.
 */
const HOLD_FIRST = `
local out = {}
for i, key in ipairs(KEYS) do
  local at, holder = tonumber(ARGV[2 * i + 1]), ARGV[2 * i + 2]
  local held, first, self = {}, nil, nil
  for h, t in string.gmatch(redis.call('GET', key) or '', '(%S+) (%S+)') do
    local one = { h, t }
    held[#held + 1] = one
    if h == holder then self = one end
    if not first and (h == holder or math.abs(tonumber(t) - at) < tonumber(ARGV[1])) then first = one end
  end
  local answer = first and (self or first)
  if not answer then
    answer = { holder, ARGV[2 * i + 1] }
    held[#held + 1] = answer
    local words = {}
    for n = math.max(1, #held - 7), #held do words[#words + 1] = held[n][1] .. ' ' .. held[n][2] end
    redis.call('SET', key, table.concat(words, ' '), 'PX', ARGV[2])
  end
  out[i] = answer[1] .. ' ' .. answer[2]
end
return out`;

/** ARGV: the holder that each key shall no longer have. */
const DROP_HOLDERS = `
for i, key in ipairs(KEYS) do
  local words = {}
  for h, t in string.gmatch(redis.call('GET', key) or '', '(%S+) (%S+)') do
    if h ~= ARGV[i] then words[#words + 1] = h .. ' ' .. t end
  end
  if #words == 0 then redis.call('DEL', key)
  else redis.call('SET', key, table.concat(words, ' '), 'KEEPTTL') end
end
return 0`;

/**
 * KEYS: the offset's key, then the values'. ARGV: from, to, the offset's time to live, then time to live and value; a time of 0
 * removes. Returns the offset that is stored afterwards.
 */
const WRITE_FOLD = `
local at = tonumber(redis.call('GET', KEYS[1]) or '0')
local to = tonumber(ARGV[2])
if at < tonumber(ARGV[1]) or at >= to then return at end
for i = 2, #KEYS do
  if ARGV[2 * i] == '0' then redis.call('DEL', KEYS[i])
  else redis.call('SET', KEYS[i], ARGV[2 * i + 1], 'PX', ARGV[2 * i]) end
end
redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3])
return to`;

type Script<Result> = (keyCount: number, ...keysAndArguments: (string | number)[]) => Promise<Result>;

export interface RedisScripts {
  weirClaim: Script<('claimed' | 'pending' | 'confirmed')[]>;
  weirConfirm: Script<number>;
  weirRelease: Script<number>;
  weirHoldFirst: Script<string[]>;
  weirDropHolders: Script<number>;
  weirWriteFold: Script<number>;
}

/** The client with Weir's scripts as commands; ioredis sends a script's text only where the server doesn't know it yet. */
export function withScripts(client: RedisClient): RedisClient & RedisScripts {
  client.defineCommand('weirClaim', { lua: CLAIM });
  client.defineCommand('weirConfirm', { lua: CONFIRM });
  client.defineCommand('weirRelease', { lua: RELEASE });
  client.defineCommand('weirHoldFirst', { lua: HOLD_FIRST });
  client.defineCommand('weirDropHolders', { lua: DROP_HOLDERS });
  client.defineCommand('weirWriteFold', { lua: WRITE_FOLD });
  return client as RedisClient & RedisScripts;
}
