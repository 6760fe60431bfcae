//! Rate control in short-range interconnects: the deck "Rate Control in Short Range 802.3
//! Interconnects" (M. Wadekar, G. McAlpine, T. Gupta, September 2004; claims B1 to B10).
