// Node loads this module before the measured program. It answers each message with the CPU time of the process so far.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
// Without `unref`, the message channel would keep the process alive.
process.channel?.unref();
