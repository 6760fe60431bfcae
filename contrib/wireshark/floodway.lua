-- Dissectors for frames of congestion management that Wireshark does not know: the congestion notification message
-- (CNM) with its CN-TAG, the congestion isolation message (CIM), feedback of Directional Rate Control (DRC), the
-- message of source flow control (SFC), and floodway's own messages between neighbors. Congestion notification packets
-- of RoCEv2 (CNP) get a name in the column of information; Wireshark reads their fields itself.
--
--   tshark -X lua_script:floodway.lua -r capture.pcapng -Y cim
--
-- or copy it to Wireshark's folder of personal Lua plugins (Help, About Wireshark, Folders). The formats are those of
-- docs/captures.md.

-- Adds fields to a tree, each with its first octet and the number of its octets.
local function add(tree, buffer, fields)
  for _, of in ipairs(fields) do tree:add(of[1], buffer(of[2], of[3])) end
end

-- Congestion notification message, IEEE 802.1Q clauses 30 to 33.
local cn = Proto("cn", "Congestion Notification")
local cnf = cn.fields
cnf.flow = ProtoField.uint16("cn.flow", "Flow identifier", base.DEC)
cnf.version = ProtoField.uint8("cn.version", "Version", base.DEC, nil, 0xf0)
cnf.feedback = ProtoField.uint16("cn.feedback", "Quantized feedback", base.DEC, nil, 0x003f)
cnf.cpid = ProtoField.uint64("cn.cpid", "CPID", base.HEX)
cnf.offset = ProtoField.int16("cn.offset", "QOffset (64 octets)", base.DEC)
cnf.delta = ProtoField.int16("cn.delta", "QDelta (64 octets)", base.DEC)
cnf.priority = ProtoField.uint16("cn.priority", "Encapsulated priority", base.DEC, nil, 0xe000)
cnf.destination = ProtoField.ether("cn.destination", "Encapsulated destination")
cnf.octets = ProtoField.uint16("cn.octets", "Encapsulated MSDU length", base.DEC)
cnf.msdu = ProtoField.bytes("cn.msdu", "Encapsulated MSDU")

local function cnm(buffer, pinfo, tree)
  if buffer:len() < 24 then return 0 end
  pinfo.cols.protocol = "CNM"
  local feedback = buffer(0, 2):uint() % 64
  pinfo.cols.info = string.format("Congestion notification, feedback %d, QOffset %d", feedback, buffer(10, 2):int())
  add(tree, buffer, {
    { cnf.version, 0, 1 }, { cnf.feedback, 0, 2 }, { cnf.cpid, 2, 8 }, { cnf.offset, 10, 2 },
    { cnf.delta, 12, 2 }, { cnf.priority, 14, 2 }, { cnf.destination, 16, 6 }, { cnf.octets, 22, 2 },
  })
  local octets = math.min(buffer(22, 2):uint(), buffer:len() - 24)
  if octets > 0 then tree:add(cnf.msdu, buffer(24, octets)) end
  return 24 + octets
end

-- The CN-TAG is between the VLAN tag and the EtherType of what it tags.
function cn.dissector(buffer, pinfo, tree)
  if buffer:len() < 4 then return 0 end
  local subtree = tree:add(cn, buffer(), "Congestion Notification")
  subtree:add(cnf.flow, buffer(0, 2))
  local ethertype = buffer(2, 2):uint()
  if ethertype == 0x22e7 then
    return 4 + cnm(buffer(4):tvb(), pinfo, subtree)
  end
  DissectorTable.get("ethertype"):try(ethertype, buffer(4):tvb(), pinfo, tree)
  return buffer:len()
end
DissectorTable.get("ethertype"):add(0x22e9, cn)

-- A message whose source has no CN-TAG.
local untagged = Proto("cnm", "Congestion Notification Message")
function untagged.dissector(buffer, pinfo, tree)
  return cnm(buffer, pinfo, tree:add(untagged, buffer()))
end
DissectorTable.get("ethertype"):add(0x22e7, untagged)

-- Congestion isolation message, IEEE 802.1Q clause 49; the layout is assumed.
local cim = Proto("cim", "Congestion Isolation Message")
local cif = cim.fields
cif.version = ProtoField.uint8("cim.version", "Version", base.DEC, nil, 0xf0)
cif.destination = ProtoField.ether("cim.destination", "Destination of the congesting flow")
cif.source = ProtoField.ether("cim.source", "Source of the congesting flow")
cif.vlan = ProtoField.uint16("cim.vlan", "VLAN", base.DEC, nil, 0x0fff)
cif.octets = ProtoField.uint16("cim.octets", "MSDU length", base.DEC)
cif.msdu = ProtoField.bytes("cim.msdu", "MSDU")
cim.prefs.port = Pref.uint("UDP port", 0, "The UDP port of the IP forms, which peers advertise; 0 for none")

function cim.dissector(buffer, pinfo, tree)
  if buffer:len() < 18 then return 0 end
  pinfo.cols.protocol = "CIM"
  pinfo.cols.info = "Congestion isolation, flow from " .. tostring(buffer(8, 6):ether()) .. " to "
    .. tostring(buffer(2, 6):ether())
  local subtree = tree:add(cim, buffer())
  add(subtree, buffer, {
    { cif.version, 0, 1 }, { cif.destination, 2, 6 }, { cif.source, 8, 6 }, { cif.vlan, 14, 2 },
    { cif.octets, 16, 2 },
  })
  local octets = math.min(buffer(16, 2):uint(), buffer:len() - 18)
  if octets > 0 then subtree:add(cif.msdu, buffer(18, octets)) end
  return 18 + octets
end
DissectorTable.get("ethertype"):add(0x89a2, cim)

local cim_port = 0
function cim.prefs_changed()
  local ports = DissectorTable.get("udp.port")
  if cim_port ~= 0 then ports:remove(cim_port, cim) end
  cim_port = cim.prefs.port
  if cim_port ~= 0 then ports:add(cim_port, cim) end
end

-- Source flow control, project P802.1Qdw; layout and port are floodway's own.
local sfc = Proto("sfc", "Source Flow Control")
local sff = sfc.fields
sff.version = ProtoField.uint8("sfc.version", "Version", base.DEC, nil, 0xf0)
sff.dscp = ProtoField.uint8("sfc.dscp", "DSCP", base.DEC, nil, 0xfc)
sff.protocol = ProtoField.uint8("sfc.protocol", "Protocol", base.DEC)
sff.class = ProtoField.uint8("sfc.class", "Class", base.DEC, nil, 0xe0)
sff.source = ProtoField.ipv4("sfc.source", "Source of the traffic")
sff.destination = ProtoField.ipv4("sfc.destination", "Destination of the traffic")
sff.source_port = ProtoField.uint16("sfc.source_port", "Source port", base.DEC)
sff.destination_port = ProtoField.uint16("sfc.destination_port", "Destination port", base.DEC)
sff.pause = ProtoField.uint32("sfc.pause_ns", "Pause (ns)", base.DEC)

function sfc.dissector(buffer, pinfo, tree)
  if buffer:len() < 28 then return 0 end
  pinfo.cols.protocol = "SFC"
  pinfo.cols.info = string.format("Pause traffic to %s for %d ns", tostring(buffer(8, 4):ipv4()),
    buffer(16, 4):uint())
  local subtree = tree:add(sfc, buffer(0, 28))
  add(subtree, buffer, {
    { sff.version, 0, 1 }, { sff.dscp, 1, 1 }, { sff.protocol, 2, 1 }, { sff.class, 3, 1 },
    { sff.source, 4, 4 }, { sff.destination, 8, 4 }, { sff.source_port, 12, 2 },
    { sff.destination_port, 14, 2 }, { sff.pause, 16, 4 },
  })
  return 28
end
DissectorTable.get("udp.port"):add(50684, sfc)

-- Feedback of Directional Rate Control: a MAC control frame with an opcode that Wireshark does not know.
local drc = Proto("drc", "Directional Rate Control")
local drf = drc.fields
drf.statuses = ProtoField.uint64("drc.statuses", "Direction statuses", base.HEX)
drf.worst = ProtoField.uint8("drc.worst", "Highest severity", base.DEC)
drf.mask = ProtoField.uint8("drc.mask", "Priority mask", base.HEX)
drf.group = ProtoField.uint16("drc.group", "Group of 32 directions", base.DEC)

-- Other opcodes go to the dissector that was there before.
local macc = DissectorTable.get("ethertype"):get_dissector(0x8808)
local function worst(range)
  local most = 0
  for octet = 0, 7 do
    local value = range(octet, 1):uint()
    for _ = 1, 4 do
      most = math.max(most, value % 4)
      value = math.floor(value / 4)
    end
  end
  return most
end

function drc.dissector(buffer, pinfo, tree)
  if buffer:len() < 13 or buffer(0, 2):uint() ~= 0x0dc0 then
    return macc:call(buffer, pinfo, tree)
  end
  pinfo.cols.protocol = "DRC"
  local severity = worst(buffer(2, 8))
  pinfo.cols.info = string.format("Feedback of group %d, highest severity %d", buffer(11, 2):uint(), severity)
  local subtree = tree:add(drc, buffer(0, 13))
  subtree:add(drf.statuses, buffer(2, 8))
  subtree:add(drf.worst, buffer(2, 8), severity)
  add(subtree, buffer, { { drf.mask, 10, 1 }, { drf.group, 11, 2 } })
  return 13
end
DissectorTable.get("ethertype"):add(0x8808, drc)

-- Messages of floodway's own.
local experimental = Proto("floodway", "floodway")
local owf = experimental.fields
local kinds = { [1] = "Backpressure", [2] = "Link credit", [3] = "Congestion indication", [4] = "Data" }
owf.kind = ProtoField.uint8("floodway.kind", "Kind", base.DEC, kinds)
owf.class = ProtoField.uint8("floodway.class", "Class", base.DEC)
owf.queue = ProtoField.uint8("floodway.queue", "Physical queue", base.DEC)
owf.stop = ProtoField.bool("floodway.stop", "Stop", 8, nil, 0x80)
owf.limit = ProtoField.uint64("floodway.limit", "Limit (octets since the start)", base.DEC)
owf.severity = ProtoField.uint8("floodway.severity", "Occupancy (1/256 of the buffer)", base.DEC)
owf.flow = ProtoField.uint32("floodway.flow", "Flow", base.DEC)
owf.psn = ProtoField.uint32("floodway.psn", "Packet", base.DEC)

function experimental.dissector(buffer, pinfo, tree)
  if buffer:len() < 10 then return 0 end
  local kind = buffer(0, 1):uint()
  pinfo.cols.protocol = "floodway"
  pinfo.cols.info = kinds[kind] or "unknown"
  local subtree = tree:add(experimental, buffer())
  subtree:add(owf.kind, buffer(0, 1))
  if kind == 1 then
    add(subtree, buffer, { { owf.class, 1, 1 }, { owf.queue, 2, 1 }, { owf.stop, 3, 1 } })
  elseif kind == 2 then
    add(subtree, buffer, { { owf.class, 1, 1 }, { owf.limit, 2, 8 } })
  elseif kind == 3 then
    add(subtree, buffer, { { owf.severity, 1, 1 }, { owf.flow, 4, 4 } })
  elseif kind == 4 then
    add(subtree, buffer, { { owf.flow, 1, 4 }, { owf.psn, 5, 4 } })
  end
  return buffer:len()
end
DissectorTable.get("ethertype"):add(0x88b5, experimental)

-- Wireshark reads the fields of a CNP, and names its opcode only as reserved for manufacturers.
local cnp = Proto("rocecnp", "RoCEv2 congestion notification")
local opcode = Field.new("infiniband.bth.opcode")
local pair = Field.new("infiniband.bth.destqp")
function cnp.dissector(_, pinfo, _)
  local code = opcode()
  if code and code.value == 0x81 then
    pinfo.cols.info = "CNP QP=" .. tostring(pair().display)
  end
end
register_postdissector(cnp)
