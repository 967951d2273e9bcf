// Loaded before the program that is measured: answers each message with the CPU that this process has used so far.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send?.(user + system);
});
// The channel alone must not keep a program alive.
process.channel?.unref();
